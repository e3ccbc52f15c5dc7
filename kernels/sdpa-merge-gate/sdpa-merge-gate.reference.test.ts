import { expect, it } from 'vitest';
import { sdpaMergeGateReference } from './sdpa-merge-gate.reference.ts';

it('weighs chunks by their largest scores, divides by the weights, and gates', () => {
  const shape = { heads: 1, headDim: 2, context: 96 };
  // Chunks 0 and 1 weigh 1/2 and 1; the third holds no key yet. Σ e·l = 1/2·4 + 1·6 = 8.
  const inputs = {
    sums: [8, 16, /**/ 4, 0, /**/ 1e9, 1e9],
    stats: [0, 4, /**/ Math.log(2), 6, /**/ 99, 1],
    qg: [1e9, 1e9, /**/ 0, Math.log(3)],
    position: [63],
  };
  const { out } = sdpaMergeGateReference(shape, inputs);
  expect(out[0]).toBeCloseTo((8 / 8) * 0.5, 14);
  expect(out[1]).toBeCloseTo((8 / 8) * 0.75, 14);
});
