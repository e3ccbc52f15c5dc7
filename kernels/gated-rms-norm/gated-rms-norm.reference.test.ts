import { expect, it } from 'vitest';
import { gatedRmsNormReference } from './gated-rms-norm.reference.ts';

it('normalises first, then weighs and gates by silu', () => {
  // Mean squares 25 and 1; silu(0) = 0, silu(ln 3) = ¾·ln 3, silu(−ln 3) = −¼·ln 3.
  const shape = { rows: 2, n: 2, heads: 2, zStride: 6, zOffset: 1, eps: 0 };
  const { out } = gatedRmsNormReference(shape, { x: [1, 7, 1, -1], z: [9, Math.log(3), -Math.log(3), 0, Math.log(3), 9], weight: [5, 10] });
  [0.75 * Math.log(3), -3.5 * Math.log(3), 0, -7.5 * Math.log(3)].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 13));
});

it('adds eps to the mean, under the root', () => {
  const { out } = gatedRmsNormReference({ rows: 1, n: 1, heads: 1, zStride: 1, zOffset: 0, eps: 3 }, { x: [1], z: [1000], weight: [2] });
  expect(out[0]).toBe(1000);
});
