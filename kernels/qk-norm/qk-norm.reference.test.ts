import { expect, it } from 'vitest';
import { qkNormReference } from './qk-norm.reference.ts';

it('divides each head by its own root mean square and skips what lies between heads', () => {
  const shape = { rows: 2, heads: 2, headDim: 2, rowStride: 7, headStride: 3, eps: 0 };
  // Heads (1, 7), (3, 4); then (6, 8), (−5, 5); 99 fills the gaps. Mean squares: 25, 12.5, 50, 25.
  const x = [1, 7, 99, 3, 4, 99, 99, 6, 8, 99, -5, 5, 99, 99];
  const { out } = qkNormReference(shape, { x, weight: [1, 2] });
  const wanted = [1 / 5, 14 / 5, 3 / Math.SQRT2 / 2.5, 8 / Math.SQRT2 / 2.5, 6 / Math.sqrt(50), 16 / Math.sqrt(50), -1, 2];
  wanted.forEach((value, i) => expect(out[i]).toBeCloseTo(value, 14));
});

it('adds eps to the mean, under the root', () => {
  const { out } = qkNormReference({ rows: 1, heads: 1, headDim: 2, rowStride: 2, headStride: 2, eps: 15 }, { x: [1, 1], weight: [1, 1] });
  expect([...out]).toEqual([0.25, 0.25]);
});
