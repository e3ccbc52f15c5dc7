/**
 * Attention of one token in fused kernels: qk-norm-rope-write gives, bit for bit, what qk-norm, rope and kv-write give; sdpa-split with
 * sdpa-merge-gate stays within the bound of the attention and its gate in float64, wherever the position stands in a chunk of keys.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../../engine/gpu/device.ts';
import { runLaunch, type Arrays, type TypedArray } from '../support/run-launch.ts';
import type { Kernel, Shape } from '../../kernels/contract.ts';
import { kvWrite } from '../../kernels/kv-write/kv-write.ts';
import { outputGateReference } from '../../kernels/output-gate/output-gate.reference.ts';
import { qkNormRopeWrite } from '../../kernels/qk-norm-rope-write/qk-norm-rope-write.ts';
import { qkNorm } from '../../kernels/qk-norm/qk-norm.ts';
import { Random } from '../../kernels/random.ts';
import { rope } from '../../kernels/rope/rope.ts';
import { sdpaDecodeReference } from '../../kernels/sdpa-decode/sdpa-decode.reference.ts';
import { sdpaMergeGate } from '../../kernels/sdpa-merge-gate/sdpa-merge-gate.ts';
import { CHUNK_KEYS, sdpaSplit } from '../../kernels/sdpa-split/sdpa-split.ts';
import { attentionExpect } from '../../kernels/shared/attention-contract.ts';
import { U_SPEC } from '../../kernels/shared/bounds.ts';
import { sigmoidRelative } from '../../kernels/shared/sigmoid-bounds.ts';
import { angleTable } from '../../kernels/shared/turned-bounds.ts';
import { openAnyGpu, uniform } from './against-reference.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openAnyGpu();
});
afterAll(() => gpu.close());

const launch = (kernel: Kernel<never>, shape: Shape, inputs: Arrays): Promise<Record<string, TypedArray>> => runLaunch(gpu, kernel, shape, undefined, inputs);

const words = (array: TypedArray): Uint32Array => new Uint32Array(array.buffer, array.byteOffset, array.length);

describe('qk-norm-rope-write gives the bits of its chain', () => {
  it.each([
    { name: 'tiny', heads: 4, kvHeads: 2, headDim: 64, rotary: 16, at: 3 },
    { name: '2B', heads: 8, kvHeads: 2, headDim: 256, rotary: 64, at: 6 },
    { name: 'awkward', heads: 5, kvHeads: 1, headDim: 65, rotary: 64, at: 0 },
    { name: 'past the context', heads: 2, kvHeads: 1, headDim: 64, rotary: 16, at: 7 },
  ])('$name', async ({ heads, kvHeads, headDim, rotary, at }) => {
    const random = new Random(17);
    const [context, eps] = [7, 1e-6];
    const [width, kvWidth] = [heads * headDim, kvHeads * headDim];
    const kOffset = 2 * width + 3;
    const vOffset = kOffset + kvWidth + 5;
    const x = uniform(random, vOffset + kvWidth, 4);
    const weight = uniform(random, 2 * headDim, 2);
    const caches = { kCache: uniform(random, context * kvWidth), vCache: uniform(random, context * kvWidth) };
    const turn = { table: angleTable(context, rotary), position: Uint32Array.of(at) };
    const fused = await launch(
      qkNormRopeWrite,
      { heads, kvHeads, headDim, rotary, context, width: x.length, kOffset, vOffset, eps },
      { x, weight, ...turn, ...caches },
    );
    const turned = async (count: number, headStride: number, from: Float32Array, weights: Float32Array): Promise<TypedArray> => {
      const shape = { rows: 1, heads: count, headDim, rowStride: from.length, headStride, eps };
      const normed = await launch(qkNorm, shape, { x: from.slice(0, qkNorm.sizes(shape)['x']), weight: weights });
      return (await launch(rope, { rows: 1, heads: count, headDim, rotary, context }, { x: normed['out']!, ...turn }))['out']!;
    };
    const q = await turned(heads, 2 * headDim, x.slice(0, 2 * width), weight.slice(0, headDim));
    const k = await turned(kvHeads, headDim, x.slice(kOffset, kOffset + kvWidth), weight.slice(headDim));
    const v = x.slice(vOffset, vOffset + kvWidth);
    const written = await launch(
      kvWrite,
      { rows: 1, kvHeads, headDim, context, vStride: kvHeads * headDim, vOffset: 0 },
      { k, v, position: turn.position, ...caches },
    );
    expect(words(fused['q']!)).toEqual(words(q));
    for (const cache of ['kCache', 'vCache']) expect(words(fused[cache]!), cache).toEqual(words(written[cache]!));
  });
});

describe('sdpa-split and sdpa-merge-gate stay within the bound of attention and gate', () => {
  it.each([
    { heads: 8, kvHeads: 2, headDim: 256, positions: [0, 31, 32, 100] },
    { heads: 4, kvHeads: 2, headDim: 64, positions: [0, 31, 32, 100] },
    { heads: 3, kvHeads: 1, headDim: 64, positions: [63, 7167] },
    { heads: 5, kvHeads: 1, headDim: 64, positions: [31, 100] },
    { heads: 18, kvHeads: 2, headDim: 128, positions: [70] },
  ])('$heads/$kvHeads heads of $headDim', async ({ heads, kvHeads, headDim, positions }) => {
    for (const at of positions) {
      const random = new Random(at + 1);
      const context = at + 2;
      const shape = { rows: 1, heads, kvHeads, headDim, context };
      const position = Uint32Array.of(at);
      const q = uniform(random, heads * headDim, 3);
      const [kCache, vCache] = [uniform(random, context * kvHeads * headDim, 2), uniform(random, context * kvHeads * headDim, 50)];
      const qg = uniform(random, 2 * heads * headDim, 5);
      const inputs = { q, kCache, vCache, position };
      const split = await launch(sdpaSplit, shape, inputs);
      const { out } = await launch(sdpaMergeGate, { heads, headDim, context }, { sums: split['sums']!, stats: split['stats']!, qg, position });
      const attended = attentionExpect(sdpaDecodeReference, shape, inputs, CHUNK_KEYS, () => ({ values: 1, total: 1 })).out;
      const layout = { rows: 1, heads, headDim, rowStride: 2 * heads * headDim, headStride: 2 * headDim, gateOffset: headDim };
      const wanted = outputGateReference(layout, { attn: Float32Array.from(attended.values), qg }).out;
      for (const [i, value] of wanted.entries()) {
        const gate = qg[Math.floor(i / headDim) * 2 * headDim + headDim + (i % headDim)]!;
        const bound = attended.spec[i]! / (1 + Math.exp(-gate)) + Math.abs(value) * (sigmoidRelative(gate, U_SPEC) + 4 * U_SPEC);
        expect(Math.abs(out![i]! - value), `element ${i} at position ${at}`).toBeLessThanOrEqual(bound);
      }
    }
  });
});
