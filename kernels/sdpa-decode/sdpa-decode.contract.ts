import type { Contract, ContractShape } from '../contract.ts';
import { ATTENTION_BOUNDS, ATTENTION_MEANING, attentionExpect, attentionFills, replayScores, replayValues } from '../shared/attention-contract.ts';
import { sdpaDecodeReference } from './sdpa-decode.reference.ts';
import { sdpaDecode, type SdpaDecodeShape } from './sdpa-decode.ts';

/** Keys that the workgroup attends between two rescalings: one a lane. */
const CHUNK = 256;

/** Slices of the workgroup that share a chunk's keys. */
const slicesOf = (headDim: number): number => Math.floor(CHUNK / Math.min(headDim, CHUNK));

const served = (name: string, heads: number, kvHeads: number, headDim: number, context: number, fills?: readonly string[]): ContractShape<SdpaDecodeShape> => ({
  name: `${name} ${heads}/${kvHeads}x${headDim} in ${context}`,
  role: 'served',
  shape: { rows: 1, heads, kvHeads, headDim, context },
  ...(fills ? { fills } : {}),
});

export const contract: Contract<SdpaDecodeShape> = {
  kernel: sdpaDecode,
  meaning: ATTENTION_MEANING,
  bounds:
    `${ATTENTION_BOUNDS} Here a lane adds its weight of each chunk of ${CHUNK} to the denominator and a tree of 8 levels adds the lanes; slices of the workgroup add every slices-th key ` +
    'of a chunk to an output, and are added in order.',
  families: { head: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 1),
    served('awkward', 5, 1, 160, 300),
    served('awkward', 5, 2, 96, 40),
    served('wider than the workgroup', 2, 2, 320, 260),
    served('tiny', 4, 2, 64, 40),
    served('tiny, chunks', 4, 2, 64, 600),
    served('2B', 8, 2, 256, 30),
    served('2B, one key over a chunk', 8, 2, 256, 257, ['spread', 'stress values']),
    served('long', 1, 1, 64, 7168, ['spread', 'stress values']),
    { name: 'two rows', role: 'edge', shape: { rows: 2, heads: 1, kvHeads: 1, headDim: 8, context: 4 } },
  ],
  fills: attentionFills,
  absent: { exact: 'exp may be off by 3 ULP for any argument, 0 included, and a quotient by 2.5' },
  expect: (shape, contents) =>
    attentionExpect(sdpaDecodeReference, shape, contents, CHUNK, (keys, headDim) => {
      const chunks = Math.ceil(keys / CHUNK);
      const slices = slicesOf(headDim);
      return { values: chunks * (Math.ceil(CHUNK / slices) + 1) + slices, total: 2 * chunks + 8 };
    }),
  sums: [
    {
      name: 'scores',
      shape: { rows: 1, heads: 4, kvHeads: 1, headDim: 64, context: 20 },
      fill: 'stress scores',
      output: 'out',
      family: 'head',
      replay: replayScores,
    },
    {
      name: 'values',
      shape: { rows: 1, heads: 2, kvHeads: 1, headDim: 64, context: 700 },
      fill: 'stress values',
      output: 'out',
      family: 'head',
      replay: (shape, contents, round) =>
        replayValues(shape, contents, (terms) => {
          const slices = new Float64Array(slicesOf(shape.headDim));
          terms.forEach((term, j) => {
            const slice = (j % CHUNK) % slices.length;
            slices[slice] = round(slices[slice]! + term);
          });
          return slices.reduce((sum, slice) => round(sum + slice));
        }),
    },
  ],
};
