/** What the steps of one pass share. */
import type { Shape } from '../../kernels/contract.ts';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { qmmQ4Matrix } from '../../kernels/qmm-q4-matrix/qmm-q4-matrix.ts';
import { rowsToHalves } from '../../kernels/rows-to-halves/rows-to-halves.ts';
import { EngineBroken } from '../errors.ts';
import type { BufferRef } from '../gpu/buffer-ref.ts';
import type { ModelConfig } from '../model/config.ts';
import type { QuantisedPart, WeightTable } from '../model/weights.ts';
import type { DecodeState, Scratch } from './memory.ts';
import { matrixParts } from './settings.ts';
import type { Step } from './step.ts';

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
  /** One token in fused kernels. */
  readonly fused: boolean;
  /** Rows of this pass. */
  readonly rows: number;
  /** `token`: one row, the decode kernels; `chunk`: any number of rows, the prefill kernels. */
  readonly kind: 'token' | 'chunk';
}

/** From how many rows and columns on a tile of 128 by 128 pays: below, most of it is thrown away (H200: 277 against 115 µs at 16 columns). */
const TILE_FROM = { rows: 64, columns: 128 };

/** The variant for `rows` rows by `n` columns; all that `auto` chooses among are of one family, so that it changes no digest. */
function promptVariant(qmmPrompt: string, rows: number, n: number): string {
  if (qmmPrompt !== 'auto') return qmmPrompt;
  return rows >= TILE_FROM.rows && n >= TILE_FROM.columns ? 'tile' : 'tile-rows';
}

/** One matrix by its name, and what its product with x is written to, [rows, n]. */
export type Projection = readonly [name: string, y: BufferRef];

/** Products of one x [rows, k] with several matrices. On matrix units the halves of x are made once for them all. */
export function project(graph: GraphContext, x: BufferRef, ...projections: readonly Projection[]): Step[] {
  const parts = graph.rows > 1 ? matrixParts(graph.qmmPrompt) : undefined;
  if (parts === undefined) return projections.map(([name, y]) => projectOne(graph, name, x, y));
  const { rows, scratch } = graph;
  const { k } = graph.weights.quantised(projections[0]![0]);
  const made = rowsToHalves.sizes({ rows: 1, k, parts });
  const halves = {
    halves: scratch.rows(`halves of ${k}`, made['halves']!),
    sums: scratch.rows(`sums of ${k}`, made['sums']!),
    exponents: scratch.rows('exponents', 1),
  };
  return [
    { kernel: rowsToHalves, shape: { rows, k, parts }, buffers: { x, ...halves } },
    ...projections.map(([name, y]): Step => {
      const { n, codes, scales, biases } = wholeMatrix(graph, name);
      return { kernel: qmmQ4Matrix, shape: { rows, n, k, parts }, buffers: { ...halves, codes, scales, biases, y } };
    }),
  ];
}

/** A matrix that is in one part. */
function wholeMatrix({ weights }: GraphContext, name: string): QuantisedPart & { readonly k: number } {
  const { k, parts } = weights.quantised(name);
  if (parts.length > 1) throw new EngineBroken(`the matrix ${name} is in ${parts.length} parts, which only a single row goes through`);
  return { ...parts[0], k };
}

function projectOne(graph: GraphContext, name: string, x: BufferRef, y: BufferRef): Step {
  const { rows } = graph;
  const { n, k, codes, scales, biases } = wholeMatrix(graph, name);
  return {
    kernel: qmmQ4,
    shape: { rows, n, k } satisfies Shape,
    variant: rows === 1 ? graph.qmm : promptVariant(graph.qmmPrompt, rows, n),
    buffers: { x, codes, scales, biases, y },
  };
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
