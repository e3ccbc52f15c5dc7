import { describe, expect, it } from 'vitest';
import { binomial, fisherExact, rateInterval } from './fisher.ts';
import { ORACLE } from './testing/oracle.ts';

describe('fisherExact', () => {
  it.each(ORACLE.fisher)('agrees with scipy.stats.fisher_exact: $a against $b', ({ a, b, greater, less, twoSided }) => {
    const result = fisherExact({ hits: a[0], of: a[1] }, { hits: b[0], of: b[1] });
    expect(result.greater).toBeCloseTo(greater, 10);
    expect(result.less).toBeCloseTo(less, 10);
    expect(result.twoSided).toBeCloseTo(twoSided, 10);
  });

  it('gives the published p ≈ 0.07 of 3 in 23 legs against 0 in 31', () => {
    expect(fisherExact({ hits: 3, of: 23 }, { hits: 0, of: 31 }).greater).toBeCloseTo(0.0714, 4);
  });

  it('refuses what is no count', () => {
    expect(() => fisherExact({ hits: 3, of: 2 }, { hits: 0, of: 1 })).toThrow('3 of 2 is no count');
    expect(() => fisherExact({ hits: 0.5, of: 2 }, { hits: 0, of: 1 })).toThrow(RangeError);
  });
});

describe('rateInterval', () => {
  it.each(ORACLE.rate)('agrees with scipy.stats.binomtest: $hits of $of', ({ hits, of, low, high }) => {
    const result = rateInterval({ hits, of });
    expect(result.low).toBeCloseTo(low, 9);
    expect(result.high).toBeCloseTo(high, 9);
  });
});

it('binomial probabilities add up to one, also at the ends', () => {
  for (const rate of [0, 0.3, 1]) expect(Array.from({ length: 8 }, (_, k) => binomial(k, 7, rate)).reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
});
