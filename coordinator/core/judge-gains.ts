/** The last two questions of a verdict, once the output is the same: does the sealed rule hold of every case, and how large is the effect? */
import type { Effect, VerdictWord } from '../protocol/verdict.ts';
import { caseEffect, type TimedPair } from './effect.ts';
import type { JudgeInput } from './judge-input.ts';

/** One case's pairs, with what was timed. */
export interface TimedCase {
  readonly case: string;
  readonly metric: string;
  readonly pairs: readonly TimedPair[];
}

/** Pairs in run order. A pair is a baseline and a candidate leg that the plan numbered alike. @param legs of one case. */
export function timedPairs(legs: readonly { index: number; arm: number; pair: number | null; ms: number }[], candidateArm: number): TimedPair[] {
  const pairs: TimedPair[] = [];
  for (const leg of legs) {
    if (leg.arm !== candidateArm || leg.pair === null) continue;
    const other = legs.find((item) => item.arm === 0 && item.pair === leg.pair);
    if (other !== undefined) pairs.push({ pair: leg.pair, baselineLeg: other.index, candidateLeg: leg.index, baselineMs: other.ms, candidateMs: leg.ms });
  }
  return pairs.toSorted((a, b) => a.pair - b.pair);
}

/**
 * Judges the gains of all cases by the sealed rule; the worst case decides.
 * @param same what is known of the output, such as `every digest equal`.
 */
export function judgeGains(input: JudgeInput, cases: readonly TimedCase[], same: string): { word: VerdictWord; reason: string; effects?: Effect[] } {
  const short = cases.find((item) => item.pairs.length < input.pairs);
  if (short !== undefined) return { word: 'void', reason: `${short.case} holds ${short.pairs.length} of ${input.pairs} pairs` };
  const judged = cases.map((item) => caseEffect(item.case, item.metric, item.pairs, input.rule, input.calibration));
  const effects = judged.map((item) => item.effect);
  const failed = judged.filter((item) => item.undecided === null && !item.effect.ruleMet);
  if (failed.length > 0) return { word: 'rule-not-met', reason: failed.map(({ effect }) => `${effect.case}: ${effect.ruleNote}`).join('; '), effects };
  const open = judged.flatMap((item) => (item.undecided === null ? [] : [item.undecided]));
  if (open.length > 0) return { word: 'undecided', reason: open.join('; '), effects };
  const p = Math.max(...effects.map((effect) => effect.signFlipP));
  const floor = input.calibration === null ? 'no A/A calibration' : `above the A/A floor of ${input.calibration.floorPercent} %`;
  const met = effects.map((effect) => `${effect.case} ${effect.ruleNote.split(',', 1)[0]!}`).join('; ');
  return { word: 'rule-met', reason: `${met}; ${same}; p ${Number(p.toPrecision(3))}, ${floor}`, effects };
}
