import { expect, it } from 'vitest';
import { sdpaSplitReference } from './sdpa-split.reference.ts';

it('leaves the largest score, the weights’ sum and the weighed values of each chunk of 32 keys', () => {
  const shape = { heads: 2, kvHeads: 1, headDim: 4, context: 70 };
  // Scale 1/2. Head 0 scores ln 2 times the key's first element, head 1 scores 0. Keys: 0 in the first chunk but for 1 at key 5, then 2, 3.
  const q = [2 * Math.log(2), 0, 0, 0, 0, 0, 0, 0];
  const kCache = new Float64Array(70 * 4);
  kCache[5 * 4] = 1;
  kCache[32 * 4] = 2;
  kCache[33 * 4] = 3;
  kCache[34 * 4] = 1e9; // past the position
  const vCache = Float64Array.from({ length: 70 * 4 }, (_, i) => (i % 4 === 0 ? Math.floor(i / 4) : 1));
  const { sums, stats } = sdpaSplitReference(shape, { q, kCache, vCache, position: [33] });
  // Head 0, chunk 0: m = ln 2, key 5 weighs 1 and 31 keys weigh 1/2. Chunk 1: m = 3 ln 2, weights 1/2 and 1. Chunk 2 has no key.
  const near = (values: number[]): unknown[] => values.map((value) => expect.closeTo(value, 12));
  expect([...stats.subarray(0, 6)]).toEqual(near([Math.log(2), 16.5, 3 * Math.log(2), 1.5, 0, 0]));
  expect([...stats.subarray(6)]).toEqual(near([0, 32, 0, 2, 0, 0]));
  // Σ of 0 … 31 is 496.
  expect([...sums.subarray(0, 12)]).toEqual(near([(496 - 5) / 2 + 5, 16.5, 16.5, 16.5, /**/ 16 + 33, 1.5, 1.5, 1.5, /**/ 0, 0, 0, 0]));
  expect([...sums.subarray(12, 20)]).toEqual(near([496, 32, 32, 32, /**/ 65, 2, 2, 2]));
});
