/** The merge base of a run's heads, measured as one more arm: what failed there too was there before either head. */
import type { JudgedLeg, JudgeInput } from './judge-input.ts';
import { checkLegs, type ReadLeg } from './validity.ts';

/** The legs of the merge base as they may be compared, or why they may not. */
export type MergeBase = { readonly legs: readonly ReadLeg[] } | { readonly unknown: string };

/**
 * Reads the merge base's legs by the rules that the two arms were read by, on the candidate's adapter and driver. What is wrong with them
 * is no defect of the comparison: it only leaves open what failed before.
 * @returns null where the run measured no merge base.
 */
export function readMergeBase(input: JudgeInput): MergeBase | null {
  const { mergeBase } = input;
  if (mergeBase === undefined) return null;
  const cases = new Set(mergeBase.legs.map((leg) => leg.case));
  const asBaseline: JudgedLeg[] = mergeBase.legs.map((leg) => ({ ...leg, arm: 0 }));
  const candidate = input.legs.filter((leg) => leg.arm === input.candidateArm && cases.has(leg.case));
  if (cases.size === 0) return { unknown: `${mergeBase.label} was not measured in this suite` };
  const read = checkLegs({ ...input, baseline: mergeBase.label, legs: [...asBaseline, ...candidate] });
  return read.word === 'valid' ? { legs: read.legs.filter((leg) => leg.arm === 0) } : { unknown: read.reason };
}
