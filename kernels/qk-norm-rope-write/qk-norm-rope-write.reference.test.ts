import { expect, it } from 'vitest';
import { qkNormRopeWriteReference } from './qk-norm-rope-write.reference.ts';

const near = (wanted: readonly number[]): unknown[] => wanted.map((value) => expect.closeTo(value, 14));

/** Position 0 turns by nothing, position 1 by 90 degrees. */
const TABLE = [1, 0, /**/ 0, 1];
// Two query heads with their gates, one key head after a gap, one value head. Means of squares are 4, 1 and 9.
const X = [2, -2, 2, 7, 8, 9, /**/ 1, 1, -1, 4, 5, 6, /**/ 99, /**/ 3, 3, -3, /**/ 0.5, -4, 6];
const SHAPE = { heads: 2, kvHeads: 1, headDim: 3, rotary: 2, context: 2, kOffset: 13, vOffset: 16, eps: 0 };
const CACHE = [41, 42, 43, 44, 45, 46];

it('norms by the head, weighs, turns, and writes one row of the caches', () => {
  const { q, kCache, vCache } = qkNormRopeWriteReference(SHAPE, {
    x: X,
    weight: [1, 2, 3, /**/ 10, 20, 30],
    table: TABLE,
    position: [1],
    kCache: CACHE,
    vCache: CACHE,
  });
  // Turned by 90 degrees, (a, b) becomes (−b, a), with a, b weighed already: (1, −2, 3) and (1, 2, −3).
  expect([...q]).toEqual(near([2, 1, 3, /**/ -2, 1, -3]));
  expect([...kCache]).toEqual(near([41, 42, 43, /**/ -20, 10, -30]));
  expect([...vCache]).toEqual(near([41, 42, 43, /**/ 0.5, -4, 6]));
});

it('past the context gives zero queries and leaves the caches alone', () => {
  const { q, kCache, vCache } = qkNormRopeWriteReference(SHAPE, {
    x: X,
    weight: [1, 1, 1, 1, 1, 1],
    table: TABLE,
    position: [2],
    kCache: CACHE,
    vCache: CACHE,
  });
  expect([...q]).toEqual([0, 0, 0, 0, 0, 0]);
  expect([...kCache, ...vCache]).toEqual([...CACHE, ...CACHE]);
});
