import { expect, it } from 'vitest';
import { gdnDecodeReference } from './gdn-decode.reference.ts';

it('decays, corrects and reads one token', () => {
  const shape = { rows: 1, kHeads: 1, vHeads: 2, dk: 2, dv: 1, vStride: 3, vOffset: 1 };
  // Head 0: S = (8, 4) quarters to (2, 1); key (3, 1) recalls 7; δ = 2·(9 − 7) = 4; S = (14, 5); q = (1, 2) reads 24.
  // Head 1: S = (1, −1) stays; recalls 2; δ = ½·(0 − 2) = −1; S = (−2, −2); reads −6.
  const inputs = { q: [1, 2], k: [3, 1], v: [99, 9, 0], g: [Math.log(0.25), 0], beta: [2, 0.5], state: [8, 4, 1, -1] };
  const { out, state } = gdnDecodeReference(shape, inputs);
  [24, -6].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 12));
  [14, 5, -2, -2].forEach((value, i) => expect(state[i]).toBeCloseTo(value, 12));
});
