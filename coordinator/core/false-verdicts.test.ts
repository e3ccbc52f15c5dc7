/** The statistics on replayed leg distributions, recorded ones among them. Every simulation is fixed by its seed. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_RULE } from '../protocol/run.ts';
import { caseEffect } from './effect.ts';
import { drawFrom, simulateFalseVerdicts, simulatePairs, type DrawLeg } from './false-verdicts.ts';
import { rateInterval } from './fisher.ts';
import { randomBelow, randomFrom } from './random.ts';
import { PUBLISHED_PAIRS, RECORDED_LEGS } from './testing/oracle.ts';

/** 64 legs of a made distribution. */
function made(seed: number, draw: (random: () => number) => number): number[] {
  const random = randomFrom(seed);
  return Array.from({ length: 64 }, () => draw(random));
}
/** Normal by Box and Muller. */
const normal = (random: () => number): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const DISTRIBUTIONS: readonly (readonly [name: string, legsMs: readonly number[]])[] = [
  ...RECORDED_LEGS.map(({ name, legs }) => [`recorded: ${name}`, legs] as const),
  ['published: both arms of a B60, each over its median', PUBLISHED_PAIRS[0]!.baseline.map((ms) => ms / 13.533)],
  ['normal, 2 %', made(1, (random) => 1000 * (1 + 0.02 * normal(random)))],
  ['normal, 8 %: a device too noisy for a threshold of 3 %', made(2, (random) => 1000 * (1 + 0.08 * normal(random)))],
  ['heavy upper tail', made(3, (random) => 1000 * (1 + 0.02 * -Math.log(1 - random())))],
  ['1 leg in 16 at 1.8×', made(4, (random) => (random() < 1 / 16 ? 1800 : 1000) * (1 + 0.01 * normal(random)))],
];

const RUNS = 2000;

describe.each(DISTRIBUTIONS)('%s', (_, legs) => {
  it.each([3, 5])('the stated false-verdict rate lies within the interval of 2,000 fresh runs, %i pairs', (pairs) => {
    const simulation = { pairs, rule: DEFAULT_RULE, floorPercent: null };
    const stated = simulateFalseVerdicts(legs, { ...simulation, runs: 10_000, seed: 1 });
    const fresh = simulateFalseVerdicts(legs, { ...simulation, runs: RUNS, seed: 2 });
    const { low, high } = rateInterval(fresh);
    expect(stated.hits / stated.of).toBeGreaterThanOrEqual(low);
    expect(stated.hits / stated.of).toBeLessThanOrEqual(high);
    // Never more than sign patterns alone allow.
    expect(stated.hits / stated.of).toBeLessThan(2 ** -pairs + 0.01);
  });

  it('the interval covers a planted gain of 5 % in at least 93 % of 2,000 runs of 10 pairs', () => {
    const draw = drawFrom(randomFrom(3), legs);
    let covered = 0;
    for (let run = 0; run < RUNS; run++) {
      const { interval } = caseEffect(
        'planted',
        'ms',
        simulatePairs(10, draw, () => 0.95 * draw()),
        DEFAULT_RULE,
        null,
      ).effect;
      if (interval !== null && interval.low <= 5 && 5 <= interval.high) covered++;
    }
    expect(covered / RUNS).toBeGreaterThanOrEqual(0.93);
  });
});

describe('a mode planted in 1 of 16 legs', () => {
  it.each([
    // Below the 1.5 of every arm, so seen by the arm's own spread: a leg that was the fastest of all may hide in an arm that spreads.
    ['40 % more time', 1.4, 0.99],
    ['40 % less speed', 1 / 0.6, 1],
    ['as published', 1.8, 1],
  ])('%s (×%f): flagged, kept in the binding figure, shown without', (_, times, share) => {
    const legs = RECORDED_LEGS[0]!.legs;
    let seen = 0;
    for (let run = 0; run < RUNS / 4; run++) {
      const random = randomFrom(run);
      const draw = drawFrom(random, legs);
      const slow = randomBelow(random, 16);
      let at = 0;
      const planted =
        (faster: number): DrawLeg =>
        () =>
          draw() * faster * (at++ === slow ? times : 1);
      const { effect } = caseEffect('planted', 'ms', simulatePairs(8, planted(1), planted(0.95)), DEFAULT_RULE, null);
      const flagged = effect.pairs.filter((pair) => pair.flags.length > 0);
      expect(effect.pairs).toHaveLength(8);
      if (flagged.length === 0) continue;
      seen++;
      expect(flagged.map((pair) => [pair.baselineLeg, pair.candidateLeg].includes(slow))).toEqual([true]);
      expect(effect.modes!.baseline.hits + effect.modes!.candidate.hits).toBe(1);
      // Binding: the median of all eight; beside it that of the seven others.
      const middle = (gains: readonly number[]): number => {
        const sorted = gains.toSorted((a, b) => a - b);
        return (sorted[(gains.length - 1) >> 1]! + sorted[gains.length >> 1]!) / 2;
      };
      expect(effect.medianPercent).toBeCloseTo(middle(effect.pairs.map((pair) => pair.gainPercent)), 12);
      expect(effect.medianWithoutFlaggedPercent).toBeCloseTo(
        middle(effect.pairs.filter((pair) => pair.flags.length === 0).map((pair) => pair.gainPercent)),
        12,
      );
    }
    expect(seen / (RUNS / 4)).toBeGreaterThanOrEqual(share);
  });
});

it('a simulation is fixed by its seed', () => {
  const simulation = { pairs: 3, rule: DEFAULT_RULE, floorPercent: null, runs: 500 };
  const legs = RECORDED_LEGS[1]!.legs;
  expect(simulateFalseVerdicts(legs, { ...simulation, seed: 7 })).toEqual(simulateFalseVerdicts(legs, { ...simulation, seed: 7 }));
  expect(simulateFalseVerdicts(legs, { ...simulation, seed: 8 })).not.toEqual(simulateFalseVerdicts(legs, { ...simulation, seed: 7 }));
});
