import { expect, it } from 'vitest';
import { kvWriteReference } from './kv-write.reference.ts';

const shape = { rows: 2, kvHeads: 1, headDim: 2, context: 4, vStride: 4, vOffset: 1 };
const inputs = { k: [1, 2, 3, 4], v: [-1, 5, 6, -1, -1, 7, 8, -1], kCache: [-1, -2, -3, -4, -5, -6, -7, -8], vCache: [0, 0, 0, 0, 0, 0, 0, 9] };

it('replaces the rows from the position on and keeps the others', () => {
  const { kCache, vCache } = kvWriteReference(shape, { ...inputs, position: [1] });
  expect([...kCache]).toEqual([-1, -2, 1, 2, 3, 4, -7, -8]);
  expect([...vCache]).toEqual([0, 0, 5, 6, 7, 8, 0, 9]);
});

it('drops rows past the context', () => {
  const { kCache, vCache } = kvWriteReference(shape, { ...inputs, position: [3] });
  expect([...kCache]).toEqual([-1, -2, -3, -4, -5, -6, 1, 2]);
  expect([...vCache]).toEqual([0, 0, 0, 0, 0, 0, 5, 6]);
});
