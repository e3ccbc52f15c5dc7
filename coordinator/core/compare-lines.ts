/** Printed lines, head against head: times masked, then every line must be equal. */
import { diffArrays } from 'diff';
import type { LineRow } from '../protocol/verdict.ts';
import { failuresOf, maskLine, type MaskedLine } from './mask.ts';

export interface LinesComparison {
  readonly rows: readonly LineRow[];
  /** All rows, those that are not kept included. */
  readonly count: number;
  /** Of all rows, those whose status is not `equal`. */
  readonly differing: number;
  /** Failures that the tallies of each arm state; null where no line of the arm is a tally. */
  readonly baselineFailures: number | null;
  readonly candidateFailures: number | null;
}

/** Up to this many rows a case are kept whole; beyond, equal lines that are no tally are left out. */
export const ROWS_KEPT = 500;

/** Up to this many of those are kept; beyond, the last row counts what is left out, and the logs hold it. */
export const ROWS_SHOWN = 2000;

/** Lines put in and taken out up to which two texts are aligned; texts that differ more are compared place by place. */
const MOST_EDITS = 2000;

/** The part of a log that is stdout. @param bytes UTF-8 bytes of it; absent: all. */
export function stdoutOf(log: string, bytes: number | undefined): string {
  return bytes === undefined ? log : Buffer.from(log, 'utf8').subarray(0, bytes).toString('utf8');
}

/** Lines of a text without the empty last one; CRLF counts as a line end. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/**
 * Compares what two processes printed.
 * @param name the case, for the rows.
 */
export function compareLines(name: string, baseline: readonly string[], candidate: readonly string[]): LinesComparison {
  const left = baseline.map(maskLine);
  const right = candidate.map(maskLine);
  const rows: { row: LineRow; tally: boolean }[] = [];
  const push = (a: MaskedLine | undefined, b: MaskedLine | undefined): void => {
    const status = a === undefined ? 'candidate-only' : b === undefined ? 'baseline-only' : a.masked === b.masked ? 'equal' : 'differs';
    const masked = [...new Set([...(a?.fields ?? []), ...(b?.fields ?? [])])];
    const tally = (a?.tally ?? b?.tally ?? null) !== null;
    rows.push({ row: { case: name, status, baseline: a?.masked ?? null, candidate: b?.masked ?? null, masked }, tally });
  };
  let i = 0;
  let j = 0;
  // Aligning costs the square of what differs, and a head prints what it likes: past the limit there are no parts.
  const parts =
    diffArrays(
      left.map((line) => line.masked),
      right.map((line) => line.masked),
      { maxEditLength: MOST_EDITS },
    ) ?? [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!;
    const next = parts[at + 1];
    if (!part.added && !part.removed) {
      for (let k = 0; k < part.count; k++) push(left[i++], right[j++]);
    } else {
      // A block taken out next to a block put in reads as lines that changed.
      const paired = next !== undefined && (next.added || next.removed);
      const blocks = paired ? [part, next] : [part];
      const removed = blocks.find((block) => block.removed)?.count ?? 0;
      const added = blocks.find((block) => block.added)?.count ?? 0;
      for (let k = 0; k < Math.max(removed, added); k++) push(k < removed ? left[i++] : undefined, k < added ? right[j++] : undefined);
      if (paired) at++;
    }
  }
  while (i < left.length || j < right.length) push(left[i++], right[j++]);
  const kept = rows.length <= ROWS_KEPT ? rows : rows.filter(({ row, tally }) => row.status !== 'equal' || tally);
  return {
    rows: cut(
      name,
      kept.map(({ row }) => row),
    ),
    count: rows.length,
    differing: rows.filter(({ row }) => row.status !== 'equal').length,
    baselineFailures: failures(left),
    candidateFailures: failures(right),
  };
}

function cut(name: string, rows: readonly LineRow[]): readonly LineRow[] {
  if (rows.length <= ROWS_SHOWN) return rows;
  const left = rows.slice(ROWS_SHOWN - 1);
  const equal = left.every((row) => row.status === 'equal');
  const note = `[fleet: ${left.length} more rows are left out here; the legs' logs hold them]`;
  return [...rows.slice(0, ROWS_SHOWN - 1), { case: name, status: equal ? 'equal' : 'differs', baseline: note, candidate: note, masked: [] }];
}

function failures(lines: readonly MaskedLine[]): number | null {
  const tallies = lines.flatMap((line) => (line.tally === null ? [] : [failuresOf(line.tally)]));
  return tallies.length === 0 ? null : tallies.reduce((sum, count) => sum + count, 0);
}
