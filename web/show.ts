/** How values look on pages. Texts from heads, logs and devices pass `clean` before they are shown; JSX escapes them. */

// eslint-disable-next-line no-control-regex -- control characters are exactly what is removed
const TERMINAL = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-_]/g;
// eslint-disable-next-line no-control-regex -- as above; and what reorders text, such as U+202E
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Without terminal sequences, control characters and bidirectional overrides; tabs and line ends stay. */
export function clean(text: string): string {
  return text.replace(TERMINAL, '').replace(CONTROLS, '');
}

const MINUS = '−';

/** Fixed decimals with a true minus sign; what rounds to zero has no sign. */
export function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return /[1-9]/.test(text) ? text.replace('-', MINUS) : text.replace('-', '');
}

/** A gain: `+65.02`, `−0.31`, `0.00`, in percent with two decimals and without the unit. */
export function gain(value: number): string {
  const text = fixed(value, 2);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** Milliseconds with one decimal and grouped thousands: `13,536.0`. */
export function milliseconds(value: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

/** A probability, exact powers of two unrounded as far as four digits reach: `0.125`, `0.0313`. */
export function probability(value: number): string {
  return value < 0.0001 ? value.toExponential(1).replace('-', MINUS) : String(Number(value.toFixed(4)));
}

/** The first hex digits of a hash or commit. */
export function short(hash: string): string {
  return hash.slice(0, 12);
}

/** `2026-11-29 12:00:05 UTC` of an ISO time. */
export function when(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** `1 pair`, `3 pairs`. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}
