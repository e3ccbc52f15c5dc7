import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

export type EmbedQ4Shape = Readonly<{ rows: number; k: number; vocab: number; first: number }>;

const LANES = 64;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'k', type: 'u32' },
  { name: 'vocab', type: 'u32' },
  { name: 'first', type: 'u32' },
];

/**
 * Embedding rows of a 4-bit table. ids u32 [rows]; codes u32 [vocab, k/8]; scales and biases bf16 pairs, flat over
 * [vocab·k/64], padded to whole words; out f32 [rows, k]. The table holds ids `first` … `first + vocab`. Another id gives a row of +0
 * where `first` is 0, and leaves its row as it was elsewhere: a table in several parts is gathered from by one launch a part, in order.
 */
export const embedQ4: Kernel<EmbedQ4Shape> = {
  name: 'embed-q4',
  group: 'projection',
  summary: 'out[row] = scale · q + bias of table row ids[row] − first; an id outside gives a zero row, or keeps its row where first > 0',
  bindings: [
    { name: 'ids', access: 'read', type: 'u32' },
    { name: 'codes', access: 'read', type: 'u32' },
    { name: 'scales', access: 'read', type: 'u32' },
    { name: 'biases', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['linear-group', 'bf16'],
  params: PARAMS,
  variants: ['word'],
  sizes: ({ rows, k, vocab }) => {
    const pairs = Math.ceil((vocab * k) / 64 / 2);
    return { ids: rows, codes: (vocab * k) / 8, scales: pairs, biases: pairs, out: rows * k };
  },
  launch: ({ rows, k, vocab, first }, variant = 'word'): Launch => {
    if (variant !== 'word') throw new LaunchRefused(`embed-q4 has no variant ${variant}; it has word`);
    if (rows < 1 || vocab < 1 || k < 64 || k % 64 !== 0) {
      throw new LaunchRefused(`embed-q4 serves rows, vocab >= 1 and k a multiple of 64; got rows ${rows}, k ${k}, vocab ${vocab}`);
    }
    return {
      kernel: 'embed-q4',
      variant,
      entryPoint: 'embed_q4',
      constants: {},
      params: packParams(PARAMS, { rows, k, vocab, first }),
      workgroups: foldGrid(Math.ceil((rows * k) / 8 / LANES)),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 0,
    };
  },
};
