import { describe, expect, it } from 'vitest';
import { hodgesLehmann } from './hodges-lehmann.ts';
import { ORACLE } from './testing/oracle.ts';

describe('hodgesLehmann', () => {
  it.each(ORACLE.hodgesLehmann)('agrees with scipy.stats.wilcoxon, inverted ($gains.length pairs)', ({ gains, estimate, interval }) => {
    const result = hodgesLehmann(gains);
    expect(result.estimate).toBeCloseTo(estimate, 12);
    expect(result.interval === null).toBe(interval === null);
    expect(result.interval?.low ?? 0).toBeCloseTo(interval?.low ?? 0, 12);
    expect(result.interval?.high ?? 0).toBeCloseTo(interval?.high ?? 0, 12);
    expect(result.interval?.confidence ?? 1).toBeGreaterThanOrEqual(0.95);
  });

  it('is the median of the Walsh averages: 1,2,6 give 1,1.5,2,3.5,4,6', () => expect(hodgesLehmann([1, 2, 6]).estimate).toBe(2.75));

  it('has no 95 % interval with five values, and with six the one from least to largest (coverage 1 − 2/64)', () => {
    expect(hodgesLehmann([1, 2, 3, 4, 5]).interval).toBeNull();
    expect(hodgesLehmann([3, 1, 2, 6, 5, 4]).interval).toEqual({ low: 1, high: 6, confidence: 1 - 2 / 64 });
  });

  it('narrows as the signed-rank table says: eight values drop 3 averages a side (P(W ≤ 3) = 5/256)', () => {
    // Sorted Walsh averages begin 1, 1.5, 2, 2, …; the interval starts at the fourth.
    expect(hodgesLehmann([1, 2, 3, 4, 5, 6, 7, 8]).interval).toEqual({ low: 2, high: 7, confidence: 1 - 10 / 256 });
  });
});
