import { expect, it } from 'vitest';
import { sdpaPrefillReference } from './sdpa-prefill.reference.ts';

// headDim 4, so that the scale is 1/2; scores of q = (2·ln 3, 0, 0, 0) are ln 3 times a key's first element.
const q = (a: number) => [2 * Math.log(3) * a, 0, 0, 0];
const kCache = [0, 9, 9, 9, 1, 9, 9, 9, 2, 9, 9, 9, 50, 9, 9, 9];
const vCache = [10, 0, 0, 0, 20, 1, 0, 0, 30, 0, 1, 0, 1e6, 0, 0, 0];

it('weighs values by the softmax of scaled scores, each row up to its own position', () => {
  const shape = { rows: 2, heads: 1, kvHeads: 1, headDim: 4, context: 4 };
  const { out } = sdpaPrefillReference(shape, { q: [...q(1), ...q(1)], kCache, vCache, position: [1] });
  // Row 0: weights 1 : 3. Row 1: weights 1 : 3 : 9.
  const wanted = [17.5, 3 / 4, 0, 0, 340 / 13, 3 / 13, 9 / 13, 0];
  wanted.forEach((value, i) => expect(out[i]).toBeCloseTo(value, 12));
});

it('returns the value itself for a single key, and shares key-value heads among query heads in order', () => {
  const shape = { rows: 1, heads: 4, kvHeads: 2, headDim: 1, context: 1 };
  const { out } = sdpaPrefillReference(shape, { q: [5, -5, 100, -1000], kCache: [3, 4], vCache: [7, 8], position: [0] });
  expect([...out]).toEqual([7, 7, 8, 8]);
});
