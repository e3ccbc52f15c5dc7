/** Markdown that holds texts of strangers: code spans, tables, numbers, and a cut that says so. */
import { stripControls } from './mask.ts';

/** UTF-8 bytes. */
export const bytes = (text: string): number => Buffer.byteLength(text, 'utf8');

/** Cuts at a line (or word) end, and says so. */
export function fit(text: string, limit: number): string {
  if (bytes(text) <= limit) return text;
  const cut = Buffer.from(text, 'utf8')
    .subarray(0, limit - 40)
    .toString('utf8');
  const end = Math.max(cut.lastIndexOf('\n'), cut.lastIndexOf(', '));
  return `${cut.slice(0, end === -1 ? cut.length : end)}\n\n(cut for length)`;
}

/** A code span that holds any text: one line, controls stripped, pipes escaped for tables, longer than any run of backticks. */
export function code(text: string, most = 400): string {
  const flat = stripControls(text.replaceAll(/\s+/g, ' ')).trim();
  const short = flat.length > most ? `${flat.slice(0, most - 1)}…` : flat;
  if (short === '') return '–';
  const fence = '`'.repeat(1 + Math.max(0, ...[...short.matchAll(/`+/g)].map((match) => match[0].length)));
  const pad = short.startsWith('`') || short.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${short.replaceAll('|', '\\|')}${pad}${fence}`;
}

/** A table, or nothing where it has no rows. @param align a letter a column, `r` for numbers. */
export function table(header: readonly string[], align: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const rule = header.map((_, i) => (align[i] === 'r' ? '---:' : '---'));
  return [header, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Up to so many decimals. */
export const number = (value: number, digits: number): string => String(Number(value.toFixed(digits)));
/** Two decimals, always, so that columns line up. A true minus sign, and none before zero. */
export const percent = (value: number): string =>
  `${value
    .toFixed(2)
    .replace(/^-(?=.*[1-9])/, '−')
    .replace(/^-/, '')} %`;
