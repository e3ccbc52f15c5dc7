import { describe, expect, it } from 'vitest';
import { orderEffect, type OrderedGain } from './order-effect.ts';
import { pairedGains } from './statistics.ts';
import { ORACLE } from './testing/oracle.ts';

const gains = (order: OrderedGain['order'], values: readonly number[]): OrderedGain[] => values.map((gainPercent) => ({ gainPercent, order }));

describe('orderEffect', () => {
  it.each(ORACLE.orderEffect)('agrees with scipy.stats.permutation_test over ranks: $candidateFirst', ({ candidateFirst, baselineFirst, p, shift }) => {
    const result = orderEffect([...gains('candidate-first', candidateFirst), ...gains('baseline-first', baselineFirst)])!;
    expect(result.p).toBeCloseTo(p, 12);
    expect(result.secondSlowerPercent).toBeCloseTo(shift / 2, 12);
    expect(result).toMatchObject({ baselineFirst: baselineFirst.length, candidateFirst: candidateFirst.length });
  });

  it.each(ORACLE.manyPairs)('beyond 100 pairs is within 0.002 of scipy.stats.mannwhitneyu, exact: p $p', ({ candidateFirst, baselineFirst, p }) => {
    const result = orderEffect([...gains('candidate-first', candidateFirst), ...gains('baseline-first', baselineFirst)])!;
    expect(Math.abs(result.p - p)).toBeLessThan(0.002);
  });

  it('finds what second place costs, whatever the gain: 4 % slower with a gain of 10 %', () => {
    const pairs = Array.from({ length: 8 }, (_, i): OrderedGain => {
      const baselineFirst = i % 2 === 0;
      const [baseline, candidate] = baselineFirst ? [1000 + i, 900 * 1.04] : [(1000 + i) * 1.04, 900];
      return { gainPercent: pairedGains([baseline], [candidate]).gainPercent[0]!, order: baselineFirst ? 'baseline-first' : 'candidate-first' };
    });
    const result = orderEffect(pairs)!;
    expect(result.secondSlowerPercent).toBeGreaterThan(3);
    expect(result.secondSlowerPercent).toBeLessThan(4.5);
    // The most extreme two of the 70 splits of eight pairs.
    expect(result.p).toBeCloseTo(2 / 70, 12);
  });

  it('is unknown with one order only', () => {
    expect(orderEffect(gains('baseline-first', [1, 2]))).toBeNull();
    expect(orderEffect([])).toBeNull();
  });
});
