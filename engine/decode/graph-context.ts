/** What the steps of one pass share. */
import type { Shape } from '../../kernels/contract.ts';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { EngineBroken } from '../errors.ts';
import type { ModelConfig } from '../model/config.ts';
import type { WeightTable } from '../model/weights.ts';
import type { DecodeState, Scratch } from './memory.ts';
import type { BufferRef, Step } from './step.ts';

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
  /** Variant of qmm-q4 for several rows. */
  readonly qmmPrompt: string;
  /** How the delta rule of several rows is computed: `token-loop`, or `chunked`. */
  readonly gdnPrompt: string;
  /** Rows of this pass. */
  readonly rows: number;
  /** `token`: one row, the decode kernels; `chunk`: any number of rows, the prefill kernels. */
  readonly kind: 'token' | 'chunk';
}

/** y [rows, n] = x [rows, k] · Wᵀ of the matrix `name`, which is in one part. */
export function project(graph: GraphContext, name: string, x: BufferRef, y: BufferRef, rows: number = graph.rows): Step {
  const { n, k, parts } = graph.weights.quantised(name);
  const [{ codes, scales, biases }] = parts;
  if (parts.length > 1) throw new EngineBroken(`the matrix ${name} is in ${parts.length} parts, which only a single row goes through`);
  return { kernel: qmmQ4, shape: { rows, n, k } satisfies Shape, variant: rows === 1 ? graph.qmm : graph.qmmPrompt, buffers: { x, codes, scales, biases, y } };
}

/** y [1, n] = x [1, k] · Wᵀ of the matrix `name`: one step a part. Each column's sum is the same sum, in parts or not. */
export function projectRow(graph: GraphContext, name: string, x: BufferRef, y: GPUBuffer): Step[] {
  const { k, parts } = graph.weights.quantised(name);
  return parts.map(({ start, n, codes, scales, biases }) => ({
    kernel: qmmQ4,
    shape: { rows: 1, n, k } satisfies Shape,
    variant: graph.qmm,
    buffers: { x, codes, scales, biases, y: { buffer: y, offset: start * 4 } },
  }));
}
