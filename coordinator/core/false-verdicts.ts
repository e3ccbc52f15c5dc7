/**
 * How often a rule is met where nothing changed: simulated by drawing both legs of every pair from the same legs of one device,
 * and judging the pairs by the very code that judges a run.
 */
import type { Rule } from '../protocol/run.ts';
import { decideCase, type TimedPair } from './effect.ts';
import type { Share } from './fisher.ts';
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
  return Array.from({ length: pairs }, (_, i) => {
    // The order of seed 0: odd pairs run the baseline first.
    const baselineFirst = i % 2 === 0;
    const first = baselineFirst ? baseline() : candidate();
    const second = baselineFirst ? candidate() : baseline();
    const [baselineLeg, candidateLeg] = baselineFirst ? [2 * i, 2 * i + 1] : [2 * i + 1, 2 * i];
    return { pair: i + 1, baselineLeg, candidateLeg, baselineMs: baselineFirst ? first : second, candidateMs: baselineFirst ? second : first };
  });
}

export interface Simulation {
  readonly pairs: number;
  readonly rule: Rule;
  /** The A/A floor; null: none. */
  readonly floorPercent: number | null;
  readonly runs: number;
  readonly seed: number;
}

/**
 * Counts runs that a rule would call met although both arms are the same.
 * @param legsMs the device's own legs of one case, ms. @returns how many of the simulated runs were met; undecided ones were not.
 */
export function simulateFalseVerdicts(legsMs: readonly number[], { pairs, rule, floorPercent, runs, seed }: Simulation): Share {
  const draw = drawFrom(randomFrom(seed), legsMs);
  let hits = 0;
  for (let run = 0; run < runs; run++) {
    const { ruleMet, undecided } = decideCase('simulated', simulatePairs(pairs, draw, draw), rule, floorPercent);
    if (undecided === null && ruleMet) hits++;
  }
  return { hits, of: runs };
}
