/** What the steps of one pass share. */
import type { ModelConfig } from '../model/config.ts';
import type { WeightTable } from '../model/weights.ts';
import type { DecodeState, Scratch } from './memory.ts';

/** What every step of a graph is built from. */
export interface GraphContext {
  readonly config: ModelConfig;
  readonly weights: WeightTable;
  readonly state: DecodeState;
  readonly scratch: Scratch;
  /** Positions of the caches and of the rotation table. */
  readonly context: number;
  readonly ropeTable: GPUBuffer;
  /** u32 [1]: absolute position of row 0. */
  readonly position: GPUBuffer;
  /** Variant of qmm-q4 for one row. */
  readonly qmm: string;
  /** Variant of qmm-q4 for several rows, `auto`, or how many halves qmm-q4-matrix takes of an element: `matrix`, `matrix-2`. */
  readonly qmmPrompt: string;
  /** How the delta rule of several rows is computed: `token-loop`, or `chunked`. */
  readonly gdnPrompt: string;
  /** Attention of one token: sdpa-decode, or sdpa-split and sdpa-merge-gate. */
  readonly sdpa: 'whole' | 'split';
  /** Whether one token goes through fused kernels, and their products' family: `on` is split-k. */
  readonly fusion: 'off' | 'on' | 'fixed';
  /** Rows of this pass. */
  readonly rows: number;
  /** `token`: one row, the decode kernels; `chunk`: any number of rows, the prefill kernels. */
  readonly kind: 'token' | 'chunk';
}
