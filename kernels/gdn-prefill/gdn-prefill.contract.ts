import type { Contract, ContractShape } from '../contract.ts';
import { DELTA_RULE_BOUNDS, deltaRuleExpect, deltaRuleFills, deltaRuleReplayOut } from '../shared/delta-rule-contract.ts';
import { gdnPrefillReference } from './gdn-prefill.reference.ts';
import { gdnPrefill, type GdnPrefillShape } from './gdn-prefill.ts';

/** `beyond`: elements of a row of v before the values, the convolution's queries and keys. */
const served = (name: string, rows: number, kHeads: number, vHeads: number, dk: number, dv: number, beyond: number): ContractShape<GdnPrefillShape> => ({
  name: `${name} ${rows}x${kHeads}/${vHeads}x${dk}x${dv}`,
  role: 'served',
  shape: { rows, kHeads, vHeads, dk, dv, vStride: beyond + vHeads * dv, vOffset: beyond },
});

export const contract: Contract<GdnPrefillShape> = {
  kernel: gdnPrefill,
  meaning:
    'For each row in order: S ← e^g·S; δ = β·(v − S k); S ← S + δ kᵀ; out = S q, in float32, with S [vHeads, dv, dk], g a log decay, ' +
    'value head h with key head floor(h·kHeads/vHeads), v read at row·vStride + vOffset + h·dv + j. Every (h, j) is by itself: a NaN or an infinity in v reaches its own row of S and of out.',
  bounds: DELTA_RULE_BOUNDS,
  families: { recurrence: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 1, 1, 0),
    served('awkward', 3, 1, 5, 37, 13, 5),
    served('widest key', 2, 1, 2, 256, 9, 0),
    served('long', 130, 1, 2, 16, 8, 0),
    served('tiny', 1, 2, 4, 64, 64, 256),
    served('tiny prefill', 17, 2, 4, 64, 64, 256),
    served('2B heads', 3, 2, 2, 128, 128, 512),
    { name: 'keys of 257', role: 'edge', shape: { rows: 1, kHeads: 1, vHeads: 1, dk: 257, dv: 1, vStride: 1, vOffset: 0 } },
  ],
  fills: deltaRuleFills,
  absent: { exact: 'the decay is an exp, which may be off by 3 ULP for any argument, 0 included' },
  expect: (shape, contents) => deltaRuleExpect(gdnPrefillReference, shape, contents),
  sums: [
    { name: 'recall and answer', shape: served('', 1, 1, 2, 64, 8, 3).shape, fill: 'stress', output: 'out', family: 'recurrence', replay: deltaRuleReplayOut },
  ],
};
