import { describe, expect, it } from 'vitest';
import { fisherExact } from './fisher.ts';
import { countModes, moreLegs, otherModes, poolModes } from './modes.ts';

it('flags times beyond 1.5 times their arm’s median', () => {
  expect(otherModes([100, 102, 180, 98, 101])).toEqual([null, null, 180 / 101, null, null]);
  expect(otherModes([100, 100, 150])).toEqual([null, null, null]);
  expect(otherModes([])).toEqual([]);
});

it('flags a nearer mode only where six legs or more tell the arm’s spread', () => {
  const tight = [100, 101, 99.5, 100.4, 99.8, 100.1, 100.6];
  expect(otherModes([...tight, 140]).filter((mode) => mode !== null)).toHaveLength(1);
  expect(otherModes([...tight, 119])).not.toContain(119 / 100.25);
  // As far out as before, but this arm spreads that far by itself; and three legs tell no spread.
  expect(otherModes([100, 112, 88, 118, 95, 130, 80, 140]).filter((mode) => mode !== null)).toEqual([]);
  expect(otherModes([100, 101, 140]).filter((mode) => mode !== null)).toEqual([]);
});

it('counts by arm and adds runs up, each by its own medians', () => {
  const slow = countModes([100, 101, 181], [90, 91, 92]);
  expect(slow).toEqual({ baseline: { hits: 1, of: 3 }, candidate: { hits: 0, of: 3 } });
  // On another day everything takes twice as long: no leg there is of another mode.
  expect(poolModes([slow, countModes([200, 201], [180, 181])])).toEqual({ baseline: { hits: 1, of: 5 }, candidate: { hits: 0, of: 5 } });
  expect(poolModes([])).toEqual({ baseline: { hits: 0, of: 0 }, candidate: { hits: 0, of: 0 } });
});

describe('moreLegs', () => {
  it('asks for 24 after 3/23 against 0/31: one hit more is enough, and twelve legs at 3/23 hold one with 81 % odds', () => {
    const seen = { baseline: { hits: 3, of: 23 }, candidate: { hits: 0, of: 31 } };
    expect(moreLegs(seen)).toBe(24);
    expect(fisherExact({ hits: 4, of: 35 }, { hits: 0, of: 43 }).twoSided).toBeLessThan(0.05);
    expect(fisherExact({ hits: 3, of: 35 }, { hits: 0, of: 43 }).twoSided).toBeGreaterThan(0.05);
    expect(1 - (20 / 23) ** 12).toBeGreaterThan(0.8);
    expect(1 - (20 / 23) ** 11).toBeLessThan(0.8);
  });

  it('asks for none when p is there, and for no number when nothing differs', () => {
    expect(moreLegs({ baseline: { hits: 9, of: 20 }, candidate: { hits: 0, of: 20 } })).toBe(0);
    expect(moreLegs({ baseline: { hits: 1, of: 16 }, candidate: { hits: 1, of: 16 } })).toBeNull();
    expect(moreLegs({ baseline: { hits: 0, of: 0 }, candidate: { hits: 1, of: 16 } })).toBeNull();
  });
});
