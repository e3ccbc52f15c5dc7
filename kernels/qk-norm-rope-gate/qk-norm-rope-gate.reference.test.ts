import { expect, it } from 'vitest';
import { qkNormRopeGateReference } from './qk-norm-rope-gate.reference.ts';

/** Element for element, since a cosine of the table may be off by a rounding. */
const near = (wanted: readonly number[]): unknown[] => wanted.map((value) => expect.closeTo(value, 14));

/** Position 0 turns by nothing, position 1 by 90 degrees. */
const TABLE = [1, 0, /**/ 0, 1];

it('norms by the head, weighs, then turns, and copies the gates, with rows further apart than they are wide', () => {
  const shape = { rows: 2, heads: 2, kvHeads: 1, headDim: 3, rotary: 2, context: 2, qStride: 13, kStride: 4, eps: 0 };
  // Every head's mean of squares is 4 (12 = 4 + 4 + 4), 1 or 9, so that roots are 2, 1 and 3.
  const qg = [2, -2, 2, 7, 8, 9, /**/ 1, 1, -1, 4, 5, 6, 99, /**/ 3, -3, 3, 17, 18, 19, /**/ -1, 1, 1, 14, 15, 16, 99];
  const kProj = [6, 6, -6, 99, /**/ 3, 3, 3, 99];
  const weight = [1, 2, 3, /**/ 10, 20, 30];
  const { q, k, gate } = qkNormRopeGateReference(shape, { qg, kProj, weight, table: TABLE, position: [0] });
  // Row 0 is not turned. Row 1: (a, b) becomes (−b, a), with a, b weighed already.
  expect([...q]).toEqual(near([1, -2, 3, /**/ 1, 2, -3, /**/ 2, 1, 3, /**/ -2, -1, 3]));
  expect([...k]).toEqual(near([10, 20, -30, /**/ -20, 10, 30]));
  expect([...gate]).toEqual(near([7, 8, 9, 4, 5, 6, 17, 18, 19, 14, 15, 16]));
});

it('adds eps under the root; past the table queries and keys are zero and gates are still there', () => {
  const shape = { rows: 2, heads: 1, kvHeads: 1, headDim: 2, rotary: 2, context: 2, qStride: 4, kStride: 2, eps: 15 };
  const { q, k, gate } = qkNormRopeGateReference(shape, {
    qg: [1, -1, 5, 6, 1, 1, 7, 8],
    kProj: [1, 1, 1, 1],
    weight: [1, 1, 2, 2],
    table: TABLE,
    position: [1],
  });
  expect([...q]).toEqual(near([0.25, 0.25, 0, 0]));
  expect([...k]).toEqual(near([-0.5, 0.5, 0, 0]));
  expect([...gate]).toEqual(near([5, 6, 7, 8]));
});
