/**
 * The forward pass of a Qwen3.5 text model as steps: embed, layers, head. A layer is
 *   h ← h + mixer(norm(h));  h ← h + down(silu(gate(n)) · up(n)) with n = norm(h)
 * where the mixer is a Gated DeltaNet or gated attention. The residual stream goes back and forth between two buffers,
 * since a dispatch may not read and write one buffer through two bindings.
 */
import { argmax } from '../../kernels/argmax/argmax.ts';
import { embedQ4 } from '../../kernels/embed-q4/embed-q4.ts';
import { logitsChecksum } from '../../kernels/logits-checksum/logits-checksum.ts';
import { residualAdd } from '../../kernels/residual-add/residual-add.ts';
import { rmsNorm } from '../../kernels/rms-norm/rms-norm.ts';
import { siluMul } from '../../kernels/silu-mul/silu-mul.ts';
import type { BufferRef } from '../gpu/buffer-ref.ts';
import { attentionSteps } from './attention.ts';
import { deltaNetSteps } from './delta-net.ts';
import type { GraphContext } from './graph-context.ts';
import { project, projectRow, projectTogether } from './projections.ts';
import type { Step } from './step.ts';

/** Steps from ids u32 [rows] to the last layer's output, which `lastHidden` names. */
export function forwardSteps(graph: GraphContext, ids: GPUBuffer): Step[] {
  const { config, weights, rows } = graph;
  // The first part writes every row; each later one only the rows whose ids it holds.
  const steps: Step[] = weights.quantised('model.embed_tokens').parts.map(({ start, n, codes, scales, biases }) => ({
    kernel: embedQ4,
    shape: { rows, k: config.hidden, vocab: n, first: start },
    buffers: { ids, codes, scales, biases, out: lastHidden(graph) },
  }));
  for (const layer of config.layerTypes.keys()) steps.push(...layerSteps(graph, layer));
  return steps;
}

/** The residual stream before a layer and after it, [rows, hidden]. */
function lastHidden({ scratch, config }: GraphContext): GPUBuffer {
  return scratch.rows('hidden', config.hidden);
}

function layerSteps(graph: GraphContext, layer: number): Step[] {
  const { config, scratch, rows } = graph;
  const at = `model.layers.${layer}`;
  const hidden = lastHidden(graph);
  const middle = scratch.rows('hidden after mixer', config.hidden);
  const normed = scratch.rows('normed', config.hidden);
  const mixed = scratch.rows('mixer output', config.hidden);
  const gateUp = projectTogether(graph, `${at}.mlp.gate_up_proj`, [`${at}.mlp.gate_proj`, `${at}.mlp.up_proj`], normed, 'mlp input');
  const gate = gateUp.of(`${at}.mlp.gate_proj`);
  const up = gateUp.of(`${at}.mlp.up_proj`);
  const activated = scratch.rows('mlp activated', config.intermediate);
  const down = scratch.rows('mlp output', config.hidden);
  const count = rows * config.hidden;
  const mixer = config.layerTypes[layer] === 'full_attention' ? attentionSteps : deltaNetSteps;
  return [
    normStep(graph, `${at}.input_layernorm.weight`, hidden, normed),
    ...mixer(graph, layer, normed, mixed),
    { kernel: residualAdd, shape: { count }, buffers: { a: hidden, b: mixed, out: middle } },
    normStep(graph, `${at}.post_attention_layernorm.weight`, middle, normed),
    ...gateUp.steps,
    {
      kernel: siluMul,
      shape: { rows, n: config.intermediate, stride: gate.stride, upOffset: up.offset },
      buffers: { gate: gate.buffer, up: up.buffer, out: activated },
    },
    ...project(graph, activated, [`${at}.mlp.down_proj`, down]),
    { kernel: residualAdd, shape: { count }, buffers: { a: middle, b: down, out: hidden } },
  ];
}

function normStep({ config, weights, rows }: GraphContext, weight: string, x: BufferRef, out: BufferRef, normRows: number = rows): Step {
  return { kernel: rmsNorm, shape: { rows: normRows, n: config.hidden, eps: config.eps }, buffers: { x, weight: weights.vector(weight), out } };
}

/** What a pass that ends in the head leaves: logits f32 [vocab], result u32 [4] of argmax, checksum u32 [2]. */
export interface HeadOutputs {
  readonly logits: GPUBuffer;
  readonly result: GPUBuffer;
  readonly checksum: GPUBuffer;
}

export function headOutputs({ scratch, config }: GraphContext): HeadOutputs {
  return { logits: scratch.fixed('logits', config.vocab), result: scratch.fixed('argmax result', 4), checksum: scratch.fixed('logits checksum', 2) };
}

/** The last row of the last layer's output. hidden is a multiple of 64 floats, so a row starts where it can be bound: at a multiple of 256 bytes. */
export function lastRow(graph: GraphContext): BufferRef {
  return { buffer: lastHidden(graph), offset: (graph.rows - 1) * graph.config.hidden * 4 };
}

/** Steps from the last row of the last layer's output to its logits, their argmax and their checksum. */
export function headSteps(graph: GraphContext): Step[] {
  const { config, scratch } = graph;
  const { logits, result, checksum } = headOutputs(graph);
  const normed = scratch.fixed('last row normed', config.hidden);
  return [
    normStep(graph, 'model.norm.weight', lastRow(graph), normed, 1),
    ...projectRow(graph, config.tiedHead ? 'model.embed_tokens' : 'lm_head', normed, logits),
    { kernel: argmax, shape: { n: config.vocab }, buffers: { logits, result } },
    { kernel: logitsChecksum, shape: { n: config.vocab }, buffers: { logits, result: checksum } },
  ];
}
