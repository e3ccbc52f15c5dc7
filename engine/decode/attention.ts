/**
 * Gated attention: q_proj gives [query | gate] within each head; queries and keys are normed by head and rotated;
 * o_proj(attention · sigmoid(gate)).
 */
import { kvWrite } from '../../kernels/kv-write/kv-write.ts';
import { outputGate } from '../../kernels/output-gate/output-gate.ts';
import { qkNorm } from '../../kernels/qk-norm/qk-norm.ts';
import { rope } from '../../kernels/rope/rope.ts';
import { sdpaDecode } from '../../kernels/sdpa-decode/sdpa-decode.ts';
import { sdpaMergeGate } from '../../kernels/sdpa-merge-gate/sdpa-merge-gate.ts';
import { sdpaPrefill } from '../../kernels/sdpa-prefill/sdpa-prefill.ts';
import { CHUNK_KEYS, sdpaSplit } from '../../kernels/sdpa-split/sdpa-split.ts';
import { EngineBroken } from '../errors.ts';
import type { GraphContext } from './graph-context.ts';
import { project, projectTogether, type Slice } from './projections.ts';
import type { Step } from './step.ts';

/** Steps from the normed input [rows, hidden] to the mixer's output [rows, hidden]. */
export function attentionSteps(graph: GraphContext, layer: number, normed: GPUBuffer, out: GPUBuffer): Step[] {
  const { config, weights, scratch, rows, context, position, ropeTable: table } = graph;
  const { heads, kvHeads, headDim, rotary, eps } = config;
  const cache = graph.state.caches.get(layer);
  if (!cache) throw new EngineBroken(`layer ${layer} has no key and value cache`);
  const at = `model.layers.${layer}.self_attn`;
  const width = heads * headDim;
  const kvWidth = kvHeads * headDim;
  const projected = projectTogether(
    graph,
    `${at}.qkv_proj`,
    ['q', 'k', 'v'].map((member) => `${at}.${member}_proj`),
    normed,
    'attention input',
    `${at}.k_proj`,
  );
  const [query, key, value] = ['q', 'k', 'v'].map((member) => projected.of(`${at}.${member}_proj`)) as [Slice, Slice, Slice];
  const queryGate = query.buffer;
  const queriesNormed = scratch.rows('queries normed', width);
  const keysNormed = scratch.rows('keys normed', kvWidth);
  const queriesRotated = scratch.rows('queries rotated', width);
  const keysRotated = scratch.rows('keys rotated', kvWidth);
  const attended = scratch.rows('attended', width);
  const gated = scratch.rows('attended and gated', width);
  const inHeads = { rowStride: query.stride, headStride: 2 * headDim };
  const chunks = Math.ceil(context / CHUNK_KEYS);
  const caches = { kCache: cache.keys, vCache: cache.values, position };
  const whole: Step[] = [
    {
      kernel: graph.kind === 'token' ? sdpaDecode : sdpaPrefill,
      shape: { rows, heads, kvHeads, headDim, context },
      buffers: { q: queriesRotated, ...caches, out: attended },
    },
    { kernel: outputGate, shape: { rows, heads, headDim, ...inHeads, gateOffset: headDim }, buffers: { attn: attended, qg: queryGate, out: gated } },
  ];
  const sums = scratch.fixed('attention sums', heads * chunks * headDim);
  const stats = scratch.fixed('attention stats', heads * chunks * 2);
  const split: Step[] = [
    { kernel: sdpaSplit, shape: { heads, kvHeads, headDim, context }, buffers: { q: queriesRotated, ...caches, sums, stats } },
    { kernel: sdpaMergeGate, shape: { heads, headDim, context }, buffers: { sums, stats, qg: queryGate, position, out: gated } },
  ];
  return [
    ...projected.steps,
    {
      kernel: qkNorm,
      shape: { rows, heads, headDim, ...inHeads, eps },
      buffers: { x: queryGate, weight: weights.vector(`${at}.q_norm.weight`), out: queriesNormed },
    },
    {
      kernel: qkNorm,
      shape: { rows, heads: kvHeads, headDim, rowStride: key.stride, headStride: headDim, eps },
      buffers: { x: { buffer: key.buffer, offset: key.offset * 4 }, weight: weights.vector(`${at}.k_norm.weight`), out: keysNormed },
    },
    { kernel: rope, shape: { rows, heads, headDim, rotary, context }, buffers: { x: queriesNormed, table, position, out: queriesRotated } },
    { kernel: rope, shape: { rows, heads: kvHeads, headDim, rotary, context }, buffers: { x: keysNormed, table, position, out: keysRotated } },
    {
      kernel: kvWrite,
      shape: { rows, kvHeads, headDim, context, vStride: value.stride, vOffset: value.offset },
      buffers: { k: keysRotated, v: value.buffer, position, kCache: cache.keys, vCache: cache.values },
    },
    ...(graph.kind === 'token' && graph.sdpa === 'split' ? split : whole),
    ...project(graph, gated, [`${at}.o_proj`, out]),
  ];
}
