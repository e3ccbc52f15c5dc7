import { expect, it } from 'vitest';
import { ropeReference } from './rope.reference.ts';

it('turns pair (i, i + rotary/2) by the angle of its row and copies the rest', () => {
  // Position 0: no turn. Position 1: pair (0, 2) by 90 degrees, pair (1, 3) by 180. Position 2: by the 3-4-5 angle and by 270.
  const table = [1, 1, 0, 0, /**/ 0, -1, 1, 0, /**/ 0.6, 0, 0.8, -1];
  const x = [1, 2, 3, 4, 5, /**/ 1, 2, 3, 4, 5, /**/ 5, 2, 10, 4, -6];
  const { out } = ropeReference({ rows: 3, heads: 1, headDim: 5, rotary: 4, context: 3 }, { x, table, position: [0] });
  const wanted = [1, 2, 3, 4, 5, /**/ -3, -2, 1, -4, 5, /**/ -5, 4, 10, -2, -6];
  wanted.forEach((value, i) => expect(out[i]).toBeCloseTo(value, 14));
});

it('starts at the given position, and gives zeros past the table', () => {
  const { out } = ropeReference({ rows: 2, heads: 2, headDim: 2, rotary: 2, context: 2 }, { x: [1, 2, 3, 4, 5, 6, 7, 8], table: [1, 0, 0, 1], position: [1] });
  expect([...out]).toEqual([-2, 1, -4, 3, 0, 0, 0, 0]);
});
