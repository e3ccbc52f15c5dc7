/**
 * The pass of one token in fused kernels: five launches a Gated DeltaNet layer, seven an attention layer. It gives the bits of the unfused
 * pass with projections of its products' family, split-k or fixed, and attention split by keys (`qmm=split` or `qmm=fixed`, `sdpa=split`).
 */
import { embedQ4 } from '../../kernels/embed-q4/embed-q4.ts';
import { gdnStep, gdnStepServes } from '../../kernels/gdn-step/gdn-step.ts';
import { greedyMerge } from '../../kernels/greedy-merge/greedy-merge.ts';
import { greedyParts, spansOf } from '../../kernels/greedy-parts/greedy-parts.ts';
import { normGateUpQ4 } from '../../kernels/norm-gate-up-q4/norm-gate-up-q4.ts';
import { normQmmQ4 } from '../../kernels/norm-qmm-q4/norm-qmm-q4.ts';
import { qkNormRopeWrite } from '../../kernels/qk-norm-rope-write/qk-norm-rope-write.ts';
import { qmmQ4Add } from '../../kernels/qmm-q4-add/qmm-q4-add.ts';
import { sdpaMergeGate } from '../../kernels/sdpa-merge-gate/sdpa-merge-gate.ts';
import { CHUNK_KEYS, sdpaSplit, sdpaSplitServes } from '../../kernels/sdpa-split/sdpa-split.ts';
import { EngineBroken, EngineRefused } from '../errors.ts';
import type { BufferRef } from '../gpu/buffer-ref.ts';
import type { ModelConfig } from '../model/config.ts';
import type { JointWeight } from '../model/weights.ts';
import type { GraphContext } from './graph-context.ts';
import { headOutputs } from './graph.ts';
import type { Step } from './step.ts';

/** @throws EngineRefused when a fused kernel does not serve this model. */
export function refuseUnlessFused(config: ModelConfig): void {
  const next = 'use --set fusion=off';
  const gdn = { kHeads: config.gdnKeyHeads, vHeads: config.gdnValueHeads, dk: config.gdnKeyDim, dv: config.gdnValueDim, taps: config.convTaps };
  if (!gdnStepServes(gdn)) throw new EngineRefused(`gdn-step does not serve the delta net's heads of this model (${JSON.stringify(gdn)})`, next);
  if (!sdpaSplitServes(config)) {
    const { heads, kvHeads, headDim } = config;
    throw new EngineRefused(`sdpa-split does not serve the attention heads of this model (${heads} over ${kvHeads} of ${headDim})`, next);
  }
}

/** Steps from the id of one token to its logits, their argmax and their checksum. */
export function fusedTokenSteps(graph: GraphContext, ids: GPUBuffer): Step[] {
  const { config, weights, scratch } = graph;
  const hidden = scratch.rows('hidden', config.hidden);
  const steps: Step[] = weights.quantised('model.embed_tokens').parts.map(({ start, n, codes, scales, biases }) => ({
    kernel: embedQ4,
    shape: { rows: 1, k: config.hidden, vocab: n, first: start },
    buffers: { ids, codes, scales, biases, out: hidden },
  }));
  for (const [layer, type] of config.layerTypes.entries()) {
    const middle = scratch.rows('hidden after mixer', config.hidden);
    steps.push(
      ...(type === 'full_attention' ? attention(graph, layer, hidden, middle) : deltaNet(graph, layer, hidden, middle)),
      ...mlp(graph, layer, middle, hidden),
    );
  }
  return [...steps, ...fusedHead(graph, hidden)];
}

/**
 * Two outputs of 32 lanes: on an NVIDIA H200 a whole token took 1,204 µs with two and 1,307 with four, whose code is twice as long. The
 * head, whose launch is one of many alike, has four (103 against 120 µs).
 */
export function productVariant(fusion: 'on' | 'fixed', outputs: number): string {
  return `${fusion === 'on' ? 'split' : 'fixed'}-${outputs >= 65_536 ? 4 : 2}`;
}

function variantFor({ fusion }: GraphContext, outputs: number): string {
  if (fusion === 'off') throw new EngineBroken('a fused step of a pass that is not fused');
  return productVariant(fusion, outputs);
}

function jointOf({ weights }: GraphContext, name: string): JointWeight {
  const joint = weights.joint(name);
  if (!joint) throw new EngineRefused(`the joint matrix ${name} is larger than one binding of this device`, 'use --set fusion=off');
  return joint;
}

/** x normed by `norm`, times a joint matrix. */
function normed(graph: GraphContext, norm: string, { rows, codes, scales, biases }: JointWeight, x: BufferRef, y: BufferRef): Step {
  const { config, weights } = graph;
  return {
    kernel: normQmmQ4,
    shape: { n: rows, k: config.hidden, eps: config.eps },
    variant: variantFor(graph, rows),
    buffers: { x, norm: weights.vector(norm), codes, scales, biases, y },
  };
}

/** residual + x times the matrix `name`. */
function added(graph: GraphContext, name: string, x: BufferRef, residual: BufferRef, out: BufferRef): Step {
  const { n, k, parts } = graph.weights.quantised(name);
  const [{ codes, scales, biases }] = parts;
  if (parts.length > 1) throw new EngineBroken(`the matrix ${name} is in ${parts.length} parts`);
  return { kernel: qmmQ4Add, shape: { n, k }, variant: variantFor(graph, n), buffers: { x, codes, scales, biases, residual, out } };
}

function deltaNet(graph: GraphContext, layer: number, x: BufferRef, out: BufferRef): Step[] {
  const { config, weights, scratch } = graph;
  const at = `model.layers.${layer}.linear_attn`;
  const state = graph.state.linear.get(layer);
  if (!state) throw new EngineBroken(`layer ${layer} has no recurrent state`);
  const joint = jointOf(graph, `${at}.in_proj`);
  const start = (member: string): number => joint.starts.get(`${at}.in_proj_${member}`)!;
  const projected = scratch.fixed('delta net projected', joint.rows);
  const mixed = scratch.fixed('delta net output', config.gdnValueHeads * config.gdnValueDim);
  const shape = {
    kHeads: config.gdnKeyHeads,
    vHeads: config.gdnValueHeads,
    dk: config.gdnKeyDim,
    dv: config.gdnValueDim,
    taps: config.convTaps,
    width: joint.rows,
    zOffset: start('z'),
    aOffset: start('a'),
    bOffset: start('b'),
    eps: config.eps,
  };
  return [
    normed(graph, `model.layers.${layer}.input_layernorm.weight`, joint, x, projected),
    {
      kernel: gdnStep,
      shape,
      buffers: {
        x: projected,
        convWeight: weights.vector(`${at}.conv1d.weight`),
        gates: weights.vector(`${at}.gates`),
        norm: weights.vector(`${at}.norm.weight`),
        convState: state.conv,
        state: state.recurrent,
        out: mixed,
      },
    },
    added(graph, `${at}.out_proj`, mixed, x, out),
  ];
}

function attention(graph: GraphContext, layer: number, x: BufferRef, out: BufferRef): Step[] {
  const { config, weights, scratch, context, position, ropeTable: table } = graph;
  const { heads, kvHeads, headDim, rotary, eps } = config;
  const at = `model.layers.${layer}.self_attn`;
  const cache = graph.state.caches.get(layer);
  if (!cache) throw new EngineBroken(`layer ${layer} has no key and value cache`);
  const joint = jointOf(graph, `${at}.qkv_proj`);
  const projected = scratch.fixed('attention projected', joint.rows);
  const q = scratch.fixed('queries', heads * headDim);
  const chunks = Math.ceil(context / CHUNK_KEYS);
  const sums = scratch.fixed('attention sums', heads * chunks * headDim);
  const stats = scratch.fixed('attention stats', heads * chunks * 2);
  const attended = scratch.fixed('attention output', heads * headDim);
  const [kOffset, vOffset] = [joint.starts.get(`${at}.k_proj`)!, joint.starts.get(`${at}.v_proj`)!];
  return [
    normed(graph, `model.layers.${layer}.input_layernorm.weight`, joint, x, projected),
    {
      kernel: qkNormRopeWrite,
      shape: { heads, kvHeads, headDim, rotary, context, width: joint.rows, kOffset, vOffset, eps },
      buffers: { x: projected, weight: weights.vector(`${at}.qk_norm`), table, position, q, kCache: cache.keys, vCache: cache.values },
    },
    { kernel: sdpaSplit, shape: { heads, kvHeads, headDim, context }, buffers: { q, kCache: cache.keys, vCache: cache.values, position, sums, stats } },
    { kernel: sdpaMergeGate, shape: { heads, headDim, context }, buffers: { sums, stats, qg: projected, position, out: attended } },
    added(graph, `${at}.o_proj`, attended, x, out),
  ];
}

function mlp(graph: GraphContext, layer: number, x: BufferRef, out: BufferRef): Step[] {
  const { config, weights, scratch } = graph;
  const at = `model.layers.${layer}`;
  const { codes, scales, biases, starts } = jointOf(graph, `${at}.mlp.gate_up_proj`);
  const activated = scratch.fixed('mlp activated by one', config.intermediate);
  return [
    {
      kernel: normGateUpQ4,
      shape: { n: config.intermediate, k: config.hidden, upRow: starts.get(`${at}.mlp.up_proj`)!, eps: config.eps },
      variant: variantFor(graph, 2 * config.intermediate),
      buffers: { x, norm: weights.vector(`${at}.post_attention_layernorm.weight`), codes, scales, biases, out: activated },
    },
    added(graph, `${at}.mlp.down_proj`, activated, x, out),
  ];
}

/** Steps from one row of the last layer's output to its logits, their argmax and their checksum. */
export function fusedHead(graph: GraphContext, x: BufferRef): Step[] {
  const { config, weights, scratch } = graph;
  const { logits, result, checksum } = headOutputs(graph);
  const spans = spansOf(config.vocab);
  const found = scratch.fixed('greedy parts', spans * 5);
  const matrix = weights.quantised(config.tiedHead ? 'model.embed_tokens' : 'lm_head');
  return [
    ...matrix.parts.map(({ start, n, codes, scales, biases }): Step => ({
      kernel: normQmmQ4,
      shape: { n, k: config.hidden, eps: config.eps },
      variant: variantFor(graph, n),
      buffers: { x, norm: weights.vector('model.norm.weight'), codes, scales, biases, y: { buffer: logits, offset: start * 4 } },
    })),
    { kernel: greedyParts, shape: { n: config.vocab }, buffers: { logits, parts: found } },
    { kernel: greedyMerge, shape: { spans }, buffers: { parts: found, result, checksum } },
  ];
}
