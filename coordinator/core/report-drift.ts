/** The part of the Markdown report on kernels whose results moved while every gate holds. */
import type { Verdict } from '../protocol/verdict.ts';
import { code, table } from './markdown.ts';

/** More kernels than this are counted; those nearest to their bound come first. */
const LISTED = 40;

/** Kernels whose worst fraction of the bound, or output bits, differ between the arms; empty where none do. */
export function driftTable(named: readonly (readonly [name: string, verdict: Verdict])[]): string {
  const moved = named.flatMap(([, verdict]) =>
    verdict.contract.flatMap((row) =>
      row.worst === undefined || (row.worst.baseline === row.worst.candidate && row.differingCases === undefined) ? [] : [{ verdict, row, worst: row.worst }],
    ),
  );
  const nearest = moved.toSorted((a, b) => (b.worst.candidate ?? 0) - (a.worst.candidate ?? 0));
  const rows = nearest.slice(0, LISTED).map(({ verdict, row, worst }) => {
    const change = (worst.candidate ?? 0) - (worst.baseline ?? 0);
    const first = row.cases?.[0];
    const bits = row.cases === undefined ? 0 : row.cases.filter((item) => !item.sameBits).length;
    return [
      verdict.device,
      code(row.kernel),
      fraction(worst.baseline),
      fraction(worst.candidate),
      `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(3)}`,
      row.differingCases === undefined ? '–' : `${row.differingCases}${bits > 0 ? ', bits differ' : ''}`,
      first === undefined ? '–' : `${code(first.name)} ${fraction(first.baseline)} to ${fraction(first.candidate)}`,
    ];
  });
  const header = ['device', 'kernel', 'worst of bound, baseline', 'candidate', 'change', 'cases that differ', 'largest drift'];
  const more = moved.length > LISTED ? `\n\nand ${moved.length - LISTED} more kernels, farther from their bounds` : '';
  return `${table(header, 'llrrrll', rows)}${more}`;
}

const fraction = (value: number | null): string => (value === null ? 'exact' : value.toFixed(3));
