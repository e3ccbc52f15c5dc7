import type { Contract, ContractShape } from '../contract.ts';
import { ATTENTION_BOUNDS, ATTENTION_MEANING, attentionExpect, attentionFills, replayScores, replayValues } from '../shared/attention-contract.ts';
import { sdpaPrefillReference } from './sdpa-prefill.reference.ts';
import { sdpaPrefill, type SdpaPrefillShape } from './sdpa-prefill.ts';

/** Keys that a tile attends between two rescalings. */
const CHUNK = 32;

const served = (name: string, rows: number, heads: number, kvHeads: number, headDim: number, context: number): ContractShape<SdpaPrefillShape> => ({
  name: `${name} ${rows}x${heads}/${kvHeads}x${headDim} in ${context}`,
  role: 'served',
  shape: { rows, heads, kvHeads, headDim, context },
});

export const contract: Contract<SdpaPrefillShape> = {
  kernel: sdpaPrefill,
  meaning: ATTENTION_MEANING,
  bounds: `${ATTENTION_BOUNDS} Here every sum is serial over the keys and rescaled once a chunk of ${CHUNK}.`,
  families: { tile: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 1, 1),
    served('awkward', 3, 5, 1, 160, 70),
    served('awkward', 9, 5, 2, 24, 33),
    served('tiny', 1, 4, 2, 64, 40),
    served('tiny prefill', 17, 4, 2, 64, 100),
    served('2B', 1, 8, 2, 256, 33),
    served('2B prefill', 9, 8, 2, 256, 40),
    served('several tiles', 67, 2, 1, 24, 100),
    served('wide heads', 35, 2, 1, 300, 80),
    { name: 'a head of 513', role: 'edge', shape: { rows: 1, heads: 1, kvHeads: 1, headDim: 513, context: 2 } },
  ],
  fills: attentionFills,
  absent: { exact: 'exp may be off by 3 ULP for any argument, 0 included, and a quotient by 2.5' },
  expect: (shape, contents) =>
    attentionExpect(sdpaPrefillReference, shape, contents, CHUNK, (keys) => {
      const path = keys + Math.ceil(keys / CHUNK);
      return { values: path + 1, total: path };
    }),
  sums: [
    {
      name: 'scores',
      shape: { rows: 3, heads: 2, kvHeads: 1, headDim: 64, context: 20 },
      fill: 'stress scores',
      output: 'out',
      family: 'tile',
      replay: replayScores,
    },
    {
      name: 'values',
      shape: { rows: 3, heads: 2, kvHeads: 1, headDim: 40, context: 200 },
      fill: 'stress values',
      output: 'out',
      family: 'tile',
      replay: (shape, contents, round) => replayValues(shape, contents, (terms) => terms.reduce((sum, term) => round(sum + term), 0)),
    },
  ],
};
