import { expect, it } from 'vitest';
import { gdnPrefillChunkedReference } from './gdn-prefill-chunked.reference.ts';

const one = { kHeads: 1, vHeads: 1, dk: 2, dv: 2, vStride: 2, vOffset: 0 };

it('recalls what it wrote, and a decay halves it', () => {
  // Row 0 writes v = (8, 4) at key (1, 0) with β = 1 into an empty state: S = [[8, 0], [4, 0]].
  // Row 1 halves it, then at key (0, 1), β = 1/2, writes (6, −2): S = [[4, 3], [2, −1]]; q = (1, 2) reads (10, 0).
  const { out, state } = gdnPrefillChunkedReference(
    { rows: 2, ...one },
    { q: [1, 0, 1, 2], k: [1, 0, 0, 1], v: [8, 4, 6, -2], g: [0, Math.log(0.5)], beta: [1, 0.5], state: [0, 0, 0, 0] },
  );
  [8, 4, 10, 0].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 12));
  [4, 3, 2, -1].forEach((value, i) => expect(state[i]).toBeCloseTo(value, 12));
});

it('corrects by the difference from what the decayed state recalls', () => {
  // S = [[4, 0], [0, 4]] halves to [[2, 0], [0, 2]]; key (1, 1) recalls (2, 2); δ = ½·((10, 2) − (2, 2)) = (4, 0).
  const { out, state } = gdnPrefillChunkedReference(
    { rows: 1, ...one },
    { q: [1, -1], k: [1, 1], v: [10, 2], g: [Math.log(0.5)], beta: [0.5], state: [4, 0, 0, 4] },
  );
  [6, 4, 0, 2].forEach((value, i) => expect(state[i]).toBeCloseTo(value, 12));
  [2, -2].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 12));
});

it('gives key heads to value heads in order and reads values behind their offset', () => {
  const shape = { rows: 1, kHeads: 2, vHeads: 4, dk: 1, dv: 1, vStride: 6, vOffset: 1 };
  const { out } = gdnPrefillChunkedReference(shape, {
    q: [1, 10],
    k: [1, 2],
    v: [99, 1, 2, 3, 4, 99],
    g: [0, 0, 0, 0],
    beta: [1, 1, 1, 1],
    state: [0, 0, 0, 0],
  });
  expect([...out]).toEqual([1, 2, 60, 80]);
});
