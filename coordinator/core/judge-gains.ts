/** The last two questions of a verdict, once the output is the same: does the sealed rule hold of every case, and how large is the effect? */
import type { CalibrationUse } from '../protocol/calibration.ts';
import type { Effect, VerdictWord, VoidPair } from '../protocol/verdict.ts';
import { useCalibration, type CalibratedCase } from './calibration.ts';
import { caseEffect, type TimedPair } from './effect.ts';
import type { JudgeInput } from './judge-input.ts';
import { otherClient } from './machine-state.ts';
import { legName, type ReadLeg } from './validity.ts';

/** One case's pairs, with what was timed. */
export interface TimedCase {
  readonly case: string;
  readonly metric: string;
  readonly pairs: readonly TimedPair[];
  /** What its legs say they ran on, and when the first of them began. */
  readonly ran: Pick<CalibratedCase, 'driver' | 'model' | 'at'>;
}

interface GainFindings {
  readonly word: VerdictWord;
  readonly reason: string;
  readonly effects?: Effect[];
  readonly calibrations?: CalibrationUse[];
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
 * Judges the gains of all cases by the sealed rule; the worst case decides. A pair whose leg shared the GPU is void: it counts in no figure,
 * and the reason names it.
 * @param same what is known of the output, such as `every digest equal`.
 * @param legs those that the pairs are of.
 */
export function judgeGains(input: JudgeInput, cases: readonly TimedCase[], same: string, legs: readonly ReadLeg[]): GainFindings {
  const short = cases.find((item) => item.pairs.length < input.pairs);
  if (short !== undefined) return { word: 'void', reason: `${short.case} holds ${short.pairs.length} of ${input.pairs} pairs` };
  const counted = cases.map((item) => withoutVoid(input, item, legs));
  const voided = counted.flatMap(({ case: name, voidPairs }) =>
    voidPairs.length === 0
      ? []
      : [
          `pair${voidPairs.length === 1 ? '' : 's'} ${voidPairs.map(({ pair }) => pair).join(', ')} of ${name} ${voidPairs.length === 1 ? 'is' : 'are'} void: ${voidPairs[0]!.reason}`,
        ],
  );
  const judged = counted.filter(({ pairs }) => pairs.length > 0);
  if (judged.length === 0) return { word: 'void', reason: [...voided, 'next: fleet submit --again'].join('. ') };
  const found = judgeCounted(input, judged, same);
  // A case without a pair keeps a verdict from being good, and hides no other's failure.
  const word = judged.length < counted.length && found.word === 'rule-met' ? 'undecided' : found.word;
  return { ...found, word, reason: [found.reason, ...voided].join('; ') };
}

interface CountedCase extends TimedCase {
  readonly voidPairs: readonly VoidPair[];
}

function withoutVoid(input: JudgeInput, item: TimedCase, legs: readonly ReadLeg[]): CountedCase {
  const voidPairs = item.pairs.flatMap(({ pair, baselineLeg, candidateLeg }): VoidPair[] => {
    const own = legs.filter(({ index }) => index === baselineLeg || index === candidateLeg);
    const reason = otherClient(own.map((leg) => ({ name: legName(input, leg), machine: leg.measure.machine })));
    return reason === null ? [] : [{ pair, baselineLeg, candidateLeg, reason }];
  });
  return { ...item, voidPairs, pairs: item.pairs.filter(({ pair }) => voidPairs.every((other) => other.pair !== pair)) };
}

function judgeCounted(input: JudgeInput, cases: readonly CountedCase[], same: string): GainFindings {
  const calibrations = cases.flatMap((item) => usedFor(input, item) ?? []);
  const floorOf = (name: string): number | null => calibrations.find((use) => use.case === name)?.floorPercent ?? null;
  const judged = cases.map((item) => caseEffect(item.case, item.metric, item.pairs, input.rule, floorOf(item.case)));
  const effects = judged.map(({ effect }, at) => ({ ...effect, ...(cases[at]!.voidPairs.length > 0 && { voidPairs: [...cases[at]!.voidPairs] }) }));
  const found = { effects, calibrations };
  const failed = judged.filter((item) => item.undecided === null && !item.effect.ruleMet);
  if (failed.length > 0) return { word: 'rule-not-met', reason: failed.map(({ effect }) => `${effect.case}: ${effect.ruleNote}`).join('; '), ...found };
  const open = judged.flatMap((item) => (item.undecided === null ? [] : [item.undecided]));
  if (open.length > 0) return { word: 'undecided', reason: open.join('; '), ...found };
  const p = Math.max(...effects.map((effect) => effect.signFlipP));
  const met = effects.map((effect) => `${effect.case} ${effect.ruleNote.split(',', 1)[0]!}`).join('; ');
  return { word: 'rule-met', reason: `${met}; ${same}; p ${Number(p.toPrecision(3))}, ${floorWords(cases, calibrations)}`, ...found };
}

/** The sealed calibration of a case, held against what its legs ran on. */
function usedFor({ suite, adapter, rule, calibration }: JudgeInput, { case: name, pairs, ran }: TimedCase): CalibrationUse | null {
  const known = calibration?.cases.find((item) => item.case === name);
  if (known === undefined) return null;
  const judged = { suite, case: name, args: known.args, adapter: adapter ?? null, ...ran, driver: ran.driver ?? calibration!.driver };
  return useCalibration(known.measured, judged, pairs.length, rule);
}

/** `above the A/A floor of 0.42 %`, or what keeps that from being said of every case. */
function floorWords(cases: readonly TimedCase[], calibrations: readonly CalibrationUse[]): string {
  if (calibrations.length === 0) return 'no A/A calibration';
  const floors = `the A/A floor of ${calibrations.map((use) => `${Number(use.floorPercent.toFixed(2))} %`).join(' and ')}`;
  const stale = calibrations.some((use) => use.stale !== null) ? ', which is stale' : '';
  const without = cases.filter((item) => !calibrations.some((use) => use.case === item.case)).map((item) => item.case);
  return `above ${floors}${stale}${without.length === 0 ? '' : `; no A/A calibration of ${without.join(', ')}`}`;
}
