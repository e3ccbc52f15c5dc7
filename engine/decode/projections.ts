/** Products of a pass's rows with the model's 4-bit matrices. */
import type { Shape } from '../../kernels/contract.ts';
import { qmmQ4Matrix } from '../../kernels/qmm-q4-matrix/qmm-q4-matrix.ts';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { rowsToHalves } from '../../kernels/rows-to-halves/rows-to-halves.ts';
import { EngineBroken } from '../errors.ts';
import type { BufferRef } from '../gpu/buffer-ref.ts';
import type { GraphContext } from './graph-context.ts';
import { matrixParts } from './settings.ts';
import type { Step } from './step.ts';

/** From how many rows and columns on a tile of 128 by 128 pays: below, most of it is thrown away (H200: 277 against 115 µs at 16 columns). */
const TILE_FROM = { rows: 64, columns: 128 };

/** The variant for `rows` rows by `n` columns; all that `auto` chooses among are of one family, so that it changes no digest. */
function promptVariant(qmmPrompt: string, rows: number, n: number): string {
  if (qmmPrompt !== 'auto') return qmmPrompt;
  return rows >= TILE_FROM.rows && n >= TILE_FROM.columns ? 'tile' : 'tile-rows';
}

/** A matrix in one part: W [n, k]. */
interface Matrix {
  readonly n: number;
  readonly k: number;
  readonly codes: BufferRef;
  readonly scales: BufferRef;
  readonly biases: BufferRef;
}

/** One matrix by its name, and what its product with x is written to, [rows, n]. */
type Projection = readonly [name: string, y: BufferRef];

/** Products of one x [rows, k] with several matrices. */
export function project(graph: GraphContext, x: BufferRef, ...projections: readonly Projection[]): Step[] {
  return products(
    graph,
    x,
    projections.map(([name, y]) => [wholeMatrix(graph, name), y]),
  );
}

/** On matrix units the halves of x are made once for all matrices. */
function products(graph: GraphContext, x: BufferRef, wanted: readonly (readonly [Matrix, BufferRef])[]): Step[] {
  const { rows, scratch } = graph;
  const parts = rows > 1 ? matrixParts(graph.qmmPrompt) : undefined;
  if (parts === undefined) {
    return wanted.map(([{ n, k, codes, scales, biases }, y]) => ({
      kernel: qmmQ4,
      shape: { rows, n, k } satisfies Shape,
      variant: rows === 1 ? graph.qmm : promptVariant(graph.qmmPrompt, rows, n),
      buffers: { x, codes, scales, biases, y },
    }));
  }
  const { k } = wanted[0]![0];
  const made = rowsToHalves.sizes({ rows: 1, k, parts });
  const halves = {
    halves: scratch.rows(`halves of ${k}`, made['halves']!),
    sums: scratch.rows(`sums of ${k}`, made['sums']!),
    exponents: scratch.rows('exponents', 1),
  };
  return [
    { kernel: rowsToHalves, shape: { rows, k, parts }, buffers: { x, ...halves } },
    ...wanted.map(([{ n, codes, scales, biases }, y]): Step => ({
      kernel: qmmQ4Matrix,
      shape: { rows, n, k, parts },
      buffers: { ...halves, codes, scales, biases, y },
    })),
  ];
}

function wholeMatrix({ weights }: GraphContext, name: string): Matrix {
  const { k, parts } = weights.quantised(name);
  if (parts.length > 1) throw new EngineBroken(`the matrix ${name} is in ${parts.length} parts, which only a single row goes through`);
  return { ...parts[0], k };
}

/** Floats in the 256 bytes that a binding's offset is a multiple of. */
const BINDABLE = 64;

/** Where a member of a joint product lies: `offset` floats into each of its rows, which are `stride` floats apart. */
export interface Slice {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly stride: number;
}

/** Products of one input, and where each is. */
interface Products {
  readonly steps: Step[];
  of(member: string): Slice;
}

/**
 * Products of x [rows, k] with the members of a joint matrix: one launch where the rows of a prompt go through it, since every launch
 * waits for the one before and a matrix of 16 columns fills no GPU (H200, in_proj of 1,024 rows: 0.97 ms joint, 1.35 ms apart). One token,
 * and a joint matrix that no binding holds, goes through the members one by one, with the same sums.
 * @param members in their joint order.
 * @param role of the scratch that holds the products.
 * @param bound a member that is bound from its own start, which must be a multiple of 64 floats for that.
 */
export function projectTogether(graph: GraphContext, name: string, members: readonly string[], x: BufferRef, role: string, bound?: string): Products {
  const joint = graph.kind === 'token' ? undefined : graph.weights.joint(name);
  if (!joint || (bound !== undefined && joint.starts.get(bound)! % BINDABLE !== 0)) {
    const apart = new Map(members.map((member) => [member, alone(graph, member)]));
    return { steps: project(graph, x, ...members.map((member) => [member, apart.get(member)!.buffer] as const)), of: (member) => apart.get(member)! };
  }
  const { rows: n, starts } = joint;
  const buffer = graph.scratch.rows(role, n);
  return { steps: products(graph, x, [[{ ...joint, n }, buffer]]), of: (member) => ({ buffer, offset: starts.get(member)!, stride: n }) };
}

/** A buffer of its own: Dawn orders by whole buffers, so that products in parts of one would wait for each other. */
function alone({ weights, scratch, kind }: GraphContext, member: string): Slice {
  const { n } = weights.quantised(member);
  const role = member.split('.').slice(3).join(' ');
  return { buffer: kind === 'token' ? scratch.fixed(`${role} of one`, n) : scratch.rows(role, n), offset: 0, stride: n };
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
