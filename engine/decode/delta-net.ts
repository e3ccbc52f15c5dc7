/**
 * Gated DeltaNet: [q | k | v] = silu(conv(in_proj_qkv)); q and k normed; a recurrent state per value head, decayed by g and
 * written with strength beta; its output normed by head, gated by silu(z), and projected.
 */
import { conv1dDecode } from '../../kernels/conv1d-decode/conv1d-decode.ts';
import { conv1dPrefill } from '../../kernels/conv1d-prefill/conv1d-prefill.ts';
import { gatedRmsNorm } from '../../kernels/gated-rms-norm/gated-rms-norm.ts';
import { gdnChunkPrepare } from '../../kernels/gdn-chunk-prepare/gdn-chunk-prepare.ts';
import { gdnDecode } from '../../kernels/gdn-decode/gdn-decode.ts';
import { gdnGates } from '../../kernels/gdn-gates/gdn-gates.ts';
import { gdnPrefill } from '../../kernels/gdn-prefill/gdn-prefill.ts';
import { gdnPrefillChunked, type GdnPrefillChunkedShape } from '../../kernels/gdn-prefill-chunked/gdn-prefill-chunked.ts';
import { qkL2Norm } from '../../kernels/qk-l2-norm/qk-l2-norm.ts';
import { EngineBroken } from '../errors.ts';
import type { GraphContext } from './graph-context.ts';
import { project, projectTogether, type Slice } from './projections.ts';
import type { Step } from './step.ts';

/** Steps from the normed input [rows, hidden] to the mixer's output [rows, hidden]. */
export function deltaNetSteps(graph: GraphContext, layer: number, normed: GPUBuffer, out: GPUBuffer): Step[] {
  const { config, weights, scratch, rows } = graph;
  const { gdnKeyHeads: kHeads, gdnValueHeads: vHeads, gdnKeyDim: dk, gdnValueDim: dv, convChannels: channels, convTaps: taps } = config;
  const state = graph.state.linear.get(layer);
  if (!state) throw new EngineBroken(`layer ${layer} has no recurrent state`);
  const at = `model.layers.${layer}.linear_attn`;
  const keyWidth = kHeads * dk;
  const valueWidth = vHeads * dv;
  const projected = projectTogether(
    graph,
    `${at}.in_proj`,
    ['qkv', 'z', 'a', 'b'].map((member) => `${at}.in_proj_${member}`),
    normed,
    'delta net input',
  );
  const [qkv, z, a, b] = ['qkv', 'z', 'a', 'b'].map((member) => projected.of(`${at}.in_proj_${member}`)) as [Slice, Slice, Slice, Slice];
  const convolved = scratch.rows('qkv convolved', channels);
  const g = scratch.rows('g', vHeads);
  const beta = scratch.rows('beta', vHeads);
  const q = scratch.rows('q', keyWidth);
  const k = scratch.rows('k', keyWidth);
  const recurred = scratch.rows('recurrence output', valueWidth);
  const gated = scratch.rows('recurrence gated', valueWidth);
  const token = graph.kind === 'token';
  const shape = { rows, kHeads, vHeads, dk, dv, vStride: channels, vOffset: 2 * keyWidth };
  const buffers = { q, k, v: convolved, g, beta, state: state.recurrent, out: recurred };
  const recurrence =
    rows > 1 && graph.gdnPrompt === 'chunked' ? chunkedSteps(graph, shape, buffers) : [{ kernel: token ? gdnDecode : gdnPrefill, shape, buffers }];
  return [
    ...projected.steps,
    {
      kernel: token ? conv1dDecode : conv1dPrefill,
      shape: { rows, channels, taps, stride: qkv.stride },
      buffers: { x: qkv.buffer, weight: weights.vector(`${at}.conv1d.weight`), state: state.conv, out: convolved },
    },
    {
      kernel: gdnGates,
      shape: { rows, vHeads, stride: a.stride, aOffset: a.offset, bOffset: b.offset },
      buffers: { a: a.buffer, b: b.buffer, aLog: weights.vector(`${at}.A_log`), dtBias: weights.vector(`${at}.dt_bias`), g, beta },
    },
    { kernel: qkL2Norm, shape: { rows, kHeads, dk, rowStride: channels }, buffers: { x: convolved, q, k } },
    ...recurrence,
    {
      kernel: gatedRmsNorm,
      shape: { rows: rows * vHeads, n: dv, heads: vHeads, zStride: z.stride, zOffset: z.offset, eps: config.eps },
      buffers: { x: recurred, z: z.buffer, weight: weights.vector(`${at}.norm.weight`), out: gated },
    },
    ...project(graph, gated, [`${at}.out_proj`, out]),
  ];
}

/** The recurrence 16 rows a serial step: what needs no state for all rows at once, then the walk. */
function chunkedSteps(
  { scratch }: GraphContext,
  shape: GdnPrefillChunkedShape,
  buffers: Readonly<Record<'q' | 'k' | 'v' | 'g' | 'beta' | 'state' | 'out', GPUBuffer>>,
): Step[] {
  const { rows, kHeads, vHeads, dk } = shape;
  const { q, k, g, beta } = buffers;
  const mixes = scratch.rows('recurrence mixes', gdnChunkPrepare.sizes({ rows: 1, kHeads, vHeads, dk })['mixes']!);
  return [
    { kernel: gdnChunkPrepare, shape: { rows, kHeads, vHeads, dk }, buffers: { q, k, g, beta, mixes } },
    { kernel: gdnPrefillChunked, shape, buffers: { ...buffers, mixes } },
  ];
}
