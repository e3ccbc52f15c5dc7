/** What a kernel's cases computed, head against head: bits and the worst fraction of the bound, where nothing fails as well. */
import type { ContractKernelRecord } from '../../engine/protocol.ts';
import type { ContractRow } from '../protocol/verdict.ts';

/** So many cases of a kernel are listed; the rest is counted. */
const CASES_LISTED = 20;

/**
 * Worst-bound drift of one kernel, and the cases that are not the same in both arms. Bits may differ and fractions move while every gate holds:
 * a bound that is nearly used up is seen before it breaks.
 */
export function contractDrift(baseline: ContractKernelRecord, candidate: ContractKernelRecord): Pick<ContractRow, 'worst' | 'differingCases' | 'cases'> {
  const before = new Map(baseline.cases.map((item) => [item.name, item]));
  const differing = candidate.cases.flatMap((after) => {
    const there = before.get(after.name);
    if (there === undefined) return [];
    const sameBits = there.outputDigest === after.outputDigest;
    if (sameBits && there.worstFraction === after.worstFraction) return [];
    return [{ name: after.name, sameBits, baseline: there.worstFraction, candidate: after.worstFraction }];
  });
  const drift = (item: (typeof differing)[number]): number => Math.abs((item.candidate ?? 0) - (item.baseline ?? 0));
  const cases = differing.toSorted((a, b) => drift(b) - drift(a) || (a.name < b.name ? -1 : 1)).slice(0, CASES_LISTED);
  return {
    worst: { baseline: baseline.worst?.fraction ?? null, candidate: candidate.worst?.fraction ?? null },
    ...(differing.length === 0 ? {} : { differingCases: differing.length, cases }),
  };
}
