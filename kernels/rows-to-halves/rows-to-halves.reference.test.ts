import { describe, expect, it } from 'vitest';
import { rowsToHalvesReference } from './rows-to-halves.reference.ts';

describe('rows as halves, worked by hand', () => {
  it('scales the largest to 2^14 and rounds to 11 bits, ties to even', () => {
    const x = new Float32Array(64);
    x.set([1, 1 + 2 ** -11, 1 + 3 * 2 ** -11, -(1 + 2 ** -10 + 2 ** -12), 2 ** -28, 2 ** -29]);
    const { halves, sums, exponents } = rowsToHalvesReference({ rows: 1, k: 64, parts: 2 }, x);
    expect([...exponents]).toEqual([14]);
    expect(Array.from(halves.subarray(0, 6))).toEqual([16384, 16384, 16384 + 32, -(16384 + 16), 2 ** -14, 0]);
    expect(Array.from(halves.subarray(64, 70))).toEqual([0, 8, -8, -4, 0, 0]);
    expect(sums[0]).toBe(16384 * 2 + 8 + 24 - 20 + 2 ** -14 + 2 ** -15);
  });

  it('gives a row that is not finite no halves, and one of zeros exponent 0', () => {
    const x = new Float32Array(128);
    x[3] = Infinity;
    x[64] = 2 ** -140;
    const { halves, sums, exponents } = rowsToHalvesReference({ rows: 2, k: 64, parts: 1 }, x);
    expect([...exponents]).toEqual([NaN, 0]);
    expect([...halves].every((half) => half === 0)).toBe(true);
    expect([...sums].map(Math.abs)).toEqual([0, 0]);
  });

  it('limits the exponent at 126', () => {
    const { exponents, halves } = rowsToHalvesReference({ rows: 1, k: 64, parts: 1 }, new Float32Array(64).fill(2 ** -120));
    expect([exponents[0], halves[0]]).toEqual([126, 64]);
  });
});
