import { describe, expect, it } from 'vitest';
import { ENUMERATE_PAIRS, pairsToReach, signFlipP, smallestP } from './sign-flip.ts';
import { ORACLE } from './testing/oracle.ts';

describe('signFlipP', () => {
  it.each(ORACLE.signFlip)('agrees with scipy.stats.permutation_test, both sides: $gains', ({ gains, greater, twoSided }) => {
    expect(signFlipP(gains)).toBeCloseTo(greater, 12);
    expect(signFlipP(gains, 'two-sided')).toBeCloseTo(twoSided, 12);
  });

  it.each(ORACLE.signedRank)('beyond 30 pairs agrees with scipy.stats.wilcoxon, both sides ($gains.length pairs)', ({ gains, greater, twoSided }) => {
    expect(gains.length).toBeGreaterThan(ENUMERATE_PAIRS);
    expect(signFlipP(gains)).toBeCloseTo(greater, 10);
    expect(signFlipP(gains, 'two-sided')).toBeCloseTo(twoSided, 10);
  });

  it('is 1/2^n when every gain is positive', () => {
    expect(signFlipP([1, 2, 3])).toBe(0.125);
    expect(signFlipP([5, 5, 5, 5, 5])).toBe(1 / 32);
    expect(signFlipP([5, 5, 5, 5, 5], 'two-sided')).toBe(1 / 16);
  });

  it('counts the patterns by hand: 3, 2 and −1 sum to 4; only +3+2+1 = 6 and +3+2−1 = 4 reach it', () => {
    expect(signFlipP([3, 2, -1])).toBe(2 / 8);
    expect(signFlipP([3, 2, -1], 'two-sided')).toBe(4 / 8);
  });

  it('counts ties in another order of addition as reached', () => {
    // 0.1+0.2−0.3 is 5.5e-17, not 0: of the eight sums, those that are 0 in truth must count.
    expect(signFlipP([0.1, 0.2, -0.3])).toBe(5 / 8);
  });

  it('is 1 without a gain anywhere', () => {
    expect(signFlipP([])).toBe(1);
    expect(signFlipP([0, 0])).toBe(1);
    expect(signFlipP([0, 0], 'two-sided')).toBe(1);
    expect(signFlipP([-1, -2])).toBe(1);
    expect(signFlipP([-1, -2], 'two-sided')).toBe(0.5);
  });

  it('at its largest enumeration counts two patterns: all in, or all but the least', () => {
    const gains = Array.from({ length: ENUMERATE_PAIRS }, (_, i) => i + 1);
    expect(signFlipP([-1, ...gains.slice(1)])).toBe(2 * 2 ** -ENUMERATE_PAIRS);
  });

  it('beyond it drops zeros: they have no sign to flip', () => {
    const gains = Array.from({ length: 34 }, (_, i) => i + 1);
    expect(signFlipP([0, 0, ...gains])).toBeCloseTo(2 ** -34, 15);
  });
});

it('knows what a number of pairs can reach', () => {
  expect([3, 5, 7, 10].map((pairs) => Number(smallestP(pairs).toFixed(3)))).toEqual([0.125, 0.031, 0.008, 0.001]);
  expect(smallestP(6, 'two-sided')).toBe(1 / 32);
  expect(smallestP(0, 'two-sided')).toBe(1);
  expect(pairsToReach(0.05)).toBe(5);
  expect(pairsToReach(0.125)).toBe(3);
});
