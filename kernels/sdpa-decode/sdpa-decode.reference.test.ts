import { expect, it } from 'vitest';
import { sdpaDecodeReference } from './sdpa-decode.reference.ts';

it('weighs values by the softmax of scaled scores up to the position', () => {
  const shape = { rows: 1, heads: 2, kvHeads: 1, headDim: 4, context: 4 };
  // Scale 1/2: head 0 scores 0, ln 2, 2·ln 2 (weights 1 : 2 : 4), head 1 scores 0 throughout. Position 3 is not attended.
  const q = [2 * Math.log(2), 0, 0, 0, 0, 0, 0, 0];
  const kCache = [0, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 80, 1, 1, 1];
  const vCache = [7, 0, 0, 21, 14, 7, 0, 21, 0, 0, 7, 21, 1e6, 1e6, 1e6, 1e6];
  const { out } = sdpaDecodeReference(shape, { q, kCache, vCache, position: [2] });
  const wanted = [5, 2, 4, 21, 7, 7 / 3, 7 / 3, 21];
  wanted.forEach((value, i) => expect(out[i]).toBeCloseTo(value, 12));
});

it('stays finite for scores whose exponentials would overflow', () => {
  const shape = { rows: 1, heads: 1, kvHeads: 1, headDim: 1, context: 2 };
  expect(sdpaDecodeReference(shape, { q: [1000], kCache: [1000, 999], vCache: [3, 5], position: [1] }).out[0]).toBe(3);
});
