import { describe, expect, it } from 'vitest';
import { median, pairedGains } from './statistics.ts';
import { PUBLISHED_PAIRS } from './testing/oracle.ts';

describe('pairedGains', () => {
  it.each(PUBLISHED_PAIRS)('agrees with published pairs to 0.001: $name', ({ baseline, candidate, gainPercent, medianPercent }) => {
    const result = pairedGains(baseline, candidate);
    expect(result.gainPercent.map((gain) => Number(gain.toFixed(3)))).toEqual(gainPercent);
    expect(Number(result.medianPercent.toFixed(3))).toBe(medianPercent);
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
