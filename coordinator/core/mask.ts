/**
 * One printed line, ready to be compared: times taken out by rule and named, counts left alone and understood where the
 * line has one of the known shapes (SUMMARY, RESULT, key=value tallies, "passed=N total=N", "N pass gates").
 *
 * Only what carries a unit of time, a rate, a time-like key or a date is masked. A bare number is a count, and a count
 * is never masked: `passed=21`, `3 kernels`, `8 caught`.
 */

/** A line's totals by name: the names of the line itself, `limit-failures` and the like with a hyphen. */
export type Tally = Readonly<Record<string, number>>;

export interface MaskedLine {
  /** The line with every time replaced by `⟨time⟩`, `⟨rate⟩` or `⟨date⟩`, terminal controls removed. */
  readonly masked: string;
  /** Names of what was taken out, in order, such as `gates ms` or `elapsed_ms`. */
  readonly fields: readonly string[];
  /** What was taken out and is a time of known unit, in order. */
  readonly times: readonly { readonly name: string; readonly ms: number }[];
  /** Null where the line is no tally. */
  readonly tally: Tally | null;
}

// eslint-disable-next-line no-control-regex -- control characters are exactly what is removed
const TERMINAL_CONTROLS = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-_]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Removes ANSI sequences and control characters; tabs stay. Bidirectional overrides go too, since they reorder what is shown. */
export function stripControls(text: string): string {
  return text.replace(TERMINAL_CONTROLS, '').replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '');
}

const NUMBER = String.raw`[+-]?\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?`;
/** Not inside a word, a version or a longer number. `=`, brackets and quotes may stand before it. */
const START = String.raw`(?<![\w.])`;
/** Not `min` ("12 min, 40 max") and not `h`: what may be a count stays, since a masked count hides a difference. */
const TIME_UNIT = 'nanoseconds?|microseconds?|milliseconds?|seconds?|minutes?|hours?|nsecs?|usecs?|msecs?|secs?|ns|us|µs|μs|ms|s';
const RATE_UNIT = String.raw`(?:tok|tokens?|steps?|it|iters?|t|dispatch(?:es)?|launches|ops?|[kMGT]i?B|B|[kMGT]?FLOP)\/(?:s|sec|second|ms|min)|[kMGT]?FLOPS|[kMGT]?FLOP\/s`;

interface Rule {
  readonly pattern: RegExp;
  readonly mask: string;
  /** Name of the field from the match's named groups. */
  readonly name: (groups: Readonly<Record<string, string | undefined>>) => string;
}

/** A key=value whose key says that the value is a time: elapsed_ms=8053, wall_us: 12, decodeMs=3.5, duration=0.2. */
const TIME_KEY = String.raw`(?:[A-Za-z][\w.-]*?)?(?:(?:_|-)(?:ns|us|ms|sec|secs|seconds|millis)|Ms|Secs|Seconds|Millis|elapsed|duration|(?:elapsed|wall|time|took|duration|gates?|load|prefill|decode|total)_s)`;
const RATE_KEY = String.raw`(?:[A-Za-z][\w.-]*?)?(?:tok_s|tokens_per_s(?:ec|econd)?|tps|per_second|gb_s|gbps|tflops|gflops)`;

const unitName = (groups: Readonly<Record<string, string | undefined>>): string =>
  [groups['before'], groups['unit']].filter((part) => part !== undefined && part !== '').join(' ');

const RULES: readonly Rule[] = [
  {
    pattern: /(?<![\w-])(?<value>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)(?![\w-])/g,
    mask: '⟨date⟩',
    name: () => 'date',
  },
  {
    pattern: new RegExp(
      String.raw`(?<![\w.-])(?<key>${TIME_KEY})(?<join>"?\s*[=:]\s*)(?<value>${NUMBER})(?<unit>\s?(?:${TIME_UNIT})(?![\w=]))?(?![\w.]*\w)`,
      'g',
    ),
    mask: '⟨time⟩',
    name: (groups) => groups['key'] ?? '',
  },
  {
    pattern: new RegExp(String.raw`(?<![\w.-])(?<key>${RATE_KEY})(?<join>"?\s*[=:]\s*)(?<value>${NUMBER})(?![\w.]*\w)`, 'gi'),
    mask: '⟨rate⟩',
    name: (groups) => groups['key'] ?? '',
  },
  {
    pattern: new RegExp(
      String.raw`(?<lead>(?:(?<!\w)(?<before>[A-Za-z_][\w-]*)\s*[=:]?\s*)?)${START}(?<value>${NUMBER})(?<gap>\s?)(?<unit>${RATE_UNIT})(?![\w=]|-\w)`,
      'g',
    ),
    mask: '⟨rate⟩',
    name: unitName,
  },
  {
    // 1m32s, 2h03m10s: compound durations as date-like tools print them.
    pattern: /(?<lead>(?:(?<!\w)(?<before>[A-Za-z_][\w-]*)\s*[=:]?\s*)?)(?<![\w.])(?<value>(?:\d+h\s?)?\d+m\s?\d+(?:\.\d+)?s)(?<gap>)(?<unit>)(?![\w=]|-\w)/g,
    mask: '⟨time⟩',
    name: (groups) => groups['before'] ?? 'duration',
  },
  {
    pattern: new RegExp(
      String.raw`(?<lead>(?:(?<!\w)(?<before>[A-Za-z_][\w-]*)\s*[=:]?\s*)?)${START}(?<value>${NUMBER}(?:\s?[-–]\s?${NUMBER})?)(?<gap>\s?)(?<unit>(?:${TIME_UNIT})(?:\/[A-Za-z]+)?)(?![\w=]|-\w)`,
      'g',
    ),
    mask: '⟨time⟩',
    name: unitName,
  },
];

/**
 * The rules look back and ahead, so what they cost grows with the square of what they are given: a line is masked in pieces of
 * about this many characters, cut at spaces. A longer word is left as it is; leaving something unmasked hides no difference.
 */
const PIECE = 2000;

function piecesOf(line: string): string[] {
  if (line.length <= PIECE) return [line];
  const pieces: string[] = [];
  let piece = '';
  for (const word of line.split(/(?<=\s)(?=\S)/)) {
    if (piece !== '' && piece.length + word.length > PIECE) {
      pieces.push(piece);
      piece = '';
    }
    piece += word;
  }
  return [...pieces, piece];
}

/**
 * Masks one line, of any length.
 * @param line without its line end.
 */
export function maskLine(line: string): MaskedLine {
  const pieces = piecesOf(stripControls(line).trimEnd()).map((piece) => (piece.length > PIECE ? { masked: piece, fields: [], times: [] } : maskPiece(piece)));
  const masked = pieces.map((piece) => piece.masked).join('');
  return { masked, fields: [...new Set(pieces.flatMap((piece) => piece.fields))], times: pieces.flatMap((piece) => piece.times), tally: tallyOf(masked) };
}

function maskPiece(piece: string): Pick<MaskedLine, 'masked' | 'fields' | 'times'> {
  let masked = piece;
  const found: { at: number; name: string; ms: number | null }[] = [];
  for (const rule of RULES) {
    masked = masked.replace(rule.pattern, (...args) => {
      const groups = args.at(-1) as Record<string, string | undefined>;
      found.push({ at: args.at(-3) as number, name: rule.name(groups), ms: rule.mask === '⟨time⟩' ? inMs(groups) : null });
      if (groups['key'] !== undefined) return `${groups['key']}${groups['join'] ?? ''}${rule.mask}${groups['unit'] ?? ''}`;
      return `${groups['lead'] ?? ''}${rule.mask}${groups['gap'] ?? ''}${groups['unit'] ?? ''}`;
    });
  }
  const inOrder = found.toSorted((a, b) => a.at - b.at);
  return { masked, fields: inOrder.map((field) => field.name), times: inOrder.flatMap(({ name, ms }) => (ms === null ? [] : [{ name, ms }])) };
}

/** Units by their first letters; what begins with none of them is no unit of time. */
const UNIT_MS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ns|nsec|nano)/, 1e-6],
  [/^(?:us|µs|μs|usec|micro)/, 1e-3],
  [/^(?:ms|msec|milli)/, 1],
  [/^(?:s|sec)/, 1000],
  [/^min/, 60_000],
  [/^h/, 3_600_000],
];

/** A match's value in milliseconds, its unit behind the value or at the end of the key; null for a range, or without a unit. */
function inMs(groups: Readonly<Record<string, string | undefined>>): number | null {
  const unit = (groups['unit'] ?? '').trim() || (/[A-Z]?[a-z]+$/.exec(groups['key'] ?? '')?.[0] ?? '').toLowerCase();
  const factor = UNIT_MS.find(([pattern]) => pattern.test(unit) && !unit.includes('/'))?.[1];
  const value = Number((groups['value'] ?? '').replaceAll(/[,_]/g, ''));
  return factor === undefined || !Number.isFinite(value) ? null : value * factor;
}

/** Totals in words: "3 pass gates 1-4", "1 red as planted". */
const WORDS: readonly (readonly [string, RegExp])[] = [
  ['kernels', /\b(\d+) kernels?\b/],
  ['pass', /\b(\d+) pass(?:ed)?\b/],
  ['fail', /\b(\d+) fail(?:ed)?\b/],
  ['known', /\b(\d+) known\b/],
  ['skipped', /\b(\d+) skipped\b/],
  ['controls', /\b(\d+) controls?:/],
  ['caught', /\b(\d+) (?:caught|red as planted)\b/],
  ['missed', /\b(\d+) missed\b/],
  ['limit-failures', /\b(\d+) limit failures?\b/],
];
/** A line is a tally when it says how many passed or failed, not merely when it holds a number. */
const DECIDING = ['pass', 'fail', 'passed', 'failed', 'missed', 'limit-failures'] as const;

function tallyOf(line: string): Tally | null {
  const tally: Record<string, number> = {};
  const words = line.replaceAll(/(?<![\w.-])([A-Za-z][\w-]*)=(\d+)(?![\w.])/g, (_, name: string, value: string) => {
    tally[name] = Number(value);
    return ';';
  });
  for (const [name, pattern] of WORDS) {
    const match = pattern.exec(words);
    if (match !== null) tally[name] = Number(match[1]);
  }
  return DECIDING.some((name) => tally[name] !== undefined) ? tally : null;
}

/**
 * How many failures a tally states: failed checks, missed controls and limit failures; known findings are none.
 * Where a line gives a total, what neither passed, was known nor skipped counts as failed even when the line does not say so.
 */
export function failuresOf(tally: Tally): number {
  const stated = (tally['fail'] ?? 0) + (tally['failed'] ?? 0);
  const passed = tally['passed'] ?? tally['pass'];
  const total = tally['total'];
  const unaccounted = total === undefined || passed === undefined ? 0 : Math.max(0, total - passed - (tally['known'] ?? 0) - (tally['skipped'] ?? 0));
  return Math.max(stated, unaccounted) + (tally['missed'] ?? 0) + (tally['limit-failures'] ?? 0);
}
