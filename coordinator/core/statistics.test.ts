import { describe, expect, it } from 'vitest';
import { hodgesLehmann, median, otherModes, pairedGains, pairsToReach, signFlipP, smallestP } from './statistics.ts';

/** Published pairs: a decode of 24 tokens on a B60, as corrected on 2026-11-04, and as first posted (new times in the old column). */
const PUBLISHED = [
  { baseline: [13536, 13533, 13351], candidate: [4735, 4731, 4738], gains: [65.019, 65.041, 64.512], median: 65.019 },
  { baseline: [4735, 4731, 4738], candidate: [1663, 1668, 1658], gains: [64.879, 64.743, 65.006], median: 64.879 },
];

describe('pairedGains', () => {
  it.each(PUBLISHED)('agrees with published pairs to 0.001 (median $median)', ({ baseline, candidate, gains, median: middle }) => {
    const result = pairedGains(baseline, candidate);
    expect(result.gainPercent.map((gain) => Number(gain.toFixed(3)))).toEqual(gains);
    expect(result.medianPercent).toBeCloseTo(middle, 3);
  });

  it('is negative when the candidate is slower', () => expect(pairedGains([100], [110]).gainPercent).toEqual([-10]));

  it('refuses what is no pair', () => {
    expect(() => pairedGains([1, 2], [1])).toThrow('no pairs');
    expect(() => pairedGains([0], [1])).toThrow('not positive');
    expect(() => pairedGains([1], [Number.NaN])).toThrow('not positive');
    expect(() => pairedGains([], [])).toThrow(RangeError);
  });
});

it('takes the mean of the middle two', () => expect(median([4, 1, 3, 2])).toBe(2.5));

describe('signFlipP', () => {
  it('is 1/2^n when every gain is positive', () => {
    expect(signFlipP([1, 2, 3])).toBe(0.125);
    expect(signFlipP([5, 5, 5, 5, 5])).toBe(1 / 32);
  });

  it('counts the patterns by hand: 3, 2 and −1 sum to 4; only +3+2+1 = 6 and +3+2−1 = 4 reach it', () => {
    expect(signFlipP([3, 2, -1])).toBe(2 / 8);
  });

  it('counts ties in another order of addition as reached', () => {
    // 0.1+0.2−0.3 is 5.5e-17, not 0: of the eight sums, those that are 0 in truth must count.
    expect(signFlipP([0.1, 0.2, -0.3])).toBe(5 / 8);
  });

  it('is 1 without a gain anywhere', () => {
    expect(signFlipP([])).toBe(1);
    expect(signFlipP([0, 0])).toBe(1);
    expect(signFlipP([-1, -2])).toBe(1);
  });

  it('beyond 20 pairs counts rank sums, exactly', () => {
    const gains = Array.from({ length: 24 }, (_, i) => i + 1);
    expect(signFlipP(gains)).toBeCloseTo(2 ** -24, 15);
    // The smallest rank negative: sums of 24·25/2 − 1 and above, that is all in, or all but rank 1: two patterns.
    expect(signFlipP([-1, ...gains.slice(1)])).toBeCloseTo(2 * 2 ** -24, 15);
    expect(signFlipP(gains.map((gain) => (gain % 2 === 0 ? gain : -gain)))).toBeGreaterThan(0.2);
  });
});

it('knows what a number of pairs can reach', () => {
  expect([3, 5, 7, 10].map(smallestP).map((p) => Number(p.toFixed(3)))).toEqual([0.125, 0.031, 0.008, 0.001]);
  expect(pairsToReach(0.05)).toBe(5);
  expect(pairsToReach(0.125)).toBe(3);
});

describe('hodgesLehmann', () => {
  it('is the median of the Walsh averages: 1,2,6 give 1,1.5,2,3.5,4,6', () => expect(hodgesLehmann([1, 2, 6]).estimate).toBe(2.75));

  it('has no 95 % interval with five values, and with six the one from least to largest (coverage 1 − 2/64)', () => {
    expect(hodgesLehmann([1, 2, 3, 4, 5]).interval).toBeNull();
    expect(hodgesLehmann([3, 1, 2, 6, 5, 4]).interval).toEqual({ low: 1, high: 6, confidence: 1 - 2 / 64 });
  });

  it('narrows as the signed-rank table says: eight values drop 3 averages a side (P(W ≤ 3) = 5/256)', () => {
    const { interval } = hodgesLehmann([1, 2, 3, 4, 5, 6, 7, 8]);
    // Sorted Walsh averages begin 1, 1.5, 2, 2, …; the interval starts at the fourth.
    expect(interval).toEqual({ low: 2, high: 7, confidence: 1 - 10 / 256 });
  });
});

it('flags times beyond 1.5 times their arm’s median', () => {
  expect(otherModes([100, 102, 180, 98, 101])).toEqual([null, null, 180 / 101, null, null]);
  expect(otherModes([100, 100, 150])).toEqual([null, null, null]);
  expect(otherModes([])).toEqual([]);
});
