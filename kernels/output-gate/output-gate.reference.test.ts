import { expect, it } from 'vitest';
import { outputGateReference } from './output-gate.reference.ts';

it('reads each head’s gate behind its query and multiplies by the sigmoid', () => {
  const shape = { rows: 2, heads: 2, headDim: 1, rowStride: 4, headStride: 2, gateOffset: 1 };
  // Gates 0, ln 3, −ln 3, −1000 give sigmoids 1/2, 3/4, 1/4, 0; the queries (99) must not matter.
  const qg = [99, 0, 99, Math.log(3), 99, -Math.log(3), 99, -1000];
  const { out } = outputGateReference(shape, { attn: [8, 8, -8, 8], qg });
  [4, 6, -2, 0].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 14));
});
