/**
 * How often a rule is met where nothing changed: simulated by drawing both legs of every pair from the same legs of one device,
 * and judging the pairs by the very code that judges a run.
 */
import type { Rule } from '../protocol/run.ts';
import { caseEffect, type TimedPair } from './effect.ts';
import type { Share } from './fisher.ts';
import type { Calibration } from './judge-input.ts';
import { planLegs } from './plan.ts';
import { randomBelow, randomFrom } from './random.ts';

/** Draws the time of one leg, ms. */
export type DrawLeg = () => number;

/** Draws from recorded legs, each as likely as the other. @throws RangeError for none. */
export function drawFrom(random: () => number, legsMs: readonly number[]): DrawLeg {
  if (legsMs.length === 0) throw new RangeError('there are no legs to draw from');
  return () => legsMs[randomBelow(random, legsMs.length)]!;
}

/** One case's pairs in the planned order, their times drawn leg by leg in that order. */
export function simulatePairs(pairs: number, baseline: DrawLeg, candidate: DrawLeg): TimedPair[] {
  const legs = planLegs({ arms: 2, cases: ['simulated'], timed: true, pairs }).map((leg) => ({ ...leg, ms: leg.arm === 0 ? baseline() : candidate() }));
  return Array.from({ length: pairs }, (_, i) => {
    const [base, other] = [0, 1].map((arm) => legs.find((leg) => leg.pair === i + 1 && leg.arm === arm)!);
    return { pair: i + 1, baselineLeg: base!.index, candidateLeg: other!.index, baselineMs: base!.ms, candidateMs: other!.ms };
  });
}

export interface Simulation {
  readonly pairs: number;
  readonly rule: Rule;
  readonly calibration: Calibration | null;
  readonly runs: number;
  readonly seed: number;
}

/**
 * Counts runs that a rule would call met although both arms are the same.
 * @param legsMs the device's own legs of one case, ms. @returns how many of the simulated runs were met; undecided ones were not.
 */
export function simulateFalseVerdicts(legsMs: readonly number[], { pairs, rule, calibration, runs, seed }: Simulation): Share {
  const draw = drawFrom(randomFrom(seed), legsMs);
  let hits = 0;
  for (let run = 0; run < runs; run++) {
    const { effect, undecided } = caseEffect('simulated', 'simulated', simulatePairs(pairs, draw, draw), rule, calibration);
    if (undecided === null && effect.ruleMet) hits++;
  }
  return { hits, of: runs };
}
