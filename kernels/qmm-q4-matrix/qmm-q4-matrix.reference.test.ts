import { describe, expect, it } from 'vitest';
import { halvesOf } from '../shared/halves.ts';
import { qmmQ4MatrixReference, type QmmQ4MatrixInputs } from './qmm-q4-matrix.reference.ts';

/** Element 1 of x is 2 and element 6 is −0.5, the rest 0; their codes are 3 and 10; scale 0.5 (bf16 0x3f00), bias −1.5 (0xbfc0). */
function inputs(parts: number): QmmQ4MatrixInputs {
  const x = new Float32Array(64);
  x[1] = 2;
  x[6] = -0.5;
  const codes = new Uint32Array(8);
  codes[0] = (3 << 4) | (10 << 24);
  return { ...halvesOf({ rows: 1, k: 64, parts }, x), codes, scales: Uint32Array.of(0x3f00), biases: Uint32Array.of(0xbfc0) };
}

describe('4-bit product of halves, worked by hand', () => {
  it('is 2 · (0.5 · 3 − 1.5) − 0.5 · (0.5 · 10 − 1.5), with one part or two', () => {
    for (const parts of [1, 2]) {
      const { values, products, offsets, ups } = qmmQ4MatrixReference({ rows: 1, n: 1, k: 64, parts }, inputs(parts));
      expect(values[0]).toBe(-1.75);
      // Before 2^−e, e = 13: 0.5 · (5 · 2 + 2 · 0.5), and (4 + 1.5) · |2 − 0.5|.
      expect([products[0]! / 2 ** 13, offsets[0]! / 2 ** 13]).toEqual([5.5, 8.25]);
      expect(ups[0]).toBe(2 ** 5);
    }
  });

  it('has element i of eight at place (i % 4)·2 + i / 4, the lower half first', () => {
    const { halves, exponents } = inputs(1);
    // 2 · 2^13 is the half 0x7400, and −0.5 · 2^13 the half 0xec00: places 2 and 5, words 1 low and 2 high.
    expect([Array.from(halves.subarray(0, 4)), [...exponents]]).toEqual([[0, 0x7400, 0xec000000, 0], [13]]);
  });

  it('is NaN in a row that is not finite, and in a column with a scale that is not', () => {
    const given = inputs(1);
    expect(qmmQ4MatrixReference({ rows: 1, n: 1, k: 64, parts: 1 }, { ...given, exponents: Uint32Array.of(32767) }).values[0]).toBeNaN();
    expect(qmmQ4MatrixReference({ rows: 1, n: 1, k: 64, parts: 1 }, { ...given, scales: Uint32Array.of(0x7f80) }).values[0]).toBeNaN();
  });
});
