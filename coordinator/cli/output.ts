/** Where output goes: data to stdout, progress to stderr, and nothing that came over the wire may move the cursor. */
import { stripControls } from '../core/mask.ts';

/** Prints a line of data. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints one JSON value on one line, so that `tail -1 | jq` and a line reader both work. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Prints a line of progress. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Text from elsewhere as one safe line: white space becomes spaces, terminal sequences and what reorders text go. */
export function plain(text: string): string {
  return stripControls(text.replaceAll(/\s+/g, ' ')).trim();
}

/** Rows under headings, columns padded to their widest cell; nothing is cut. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows].map((row) => row.map((cell) => plain(cell)));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
