import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../../engine/gpu/device.ts';
import { runLaunch } from '../support/run-launch.ts';
import { kvWrite } from '../../kernels/kv-write/kv-write.ts';
import { kvWriteReference } from '../../kernels/kv-write/kv-write.reference.ts';
import { outputGate } from '../../kernels/output-gate/output-gate.ts';
import { outputGateReference } from '../../kernels/output-gate/output-gate.reference.ts';
import { qkNorm } from '../../kernels/qk-norm/qk-norm.ts';
import { qkNormReference } from '../../kernels/qk-norm/qk-norm.reference.ts';
import { Random } from '../../kernels/random.ts';
import { rope } from '../../kernels/rope/rope.ts';
import { ropeReference } from '../../kernels/rope/rope.reference.ts';
import { sdpaDecode } from '../../kernels/sdpa-decode/sdpa-decode.ts';
import { sdpaDecodeReference } from '../../kernels/sdpa-decode/sdpa-decode.reference.ts';
import { sdpaPrefill } from '../../kernels/sdpa-prefill/sdpa-prefill.ts';
import { sdpaPrefillReference } from '../../kernels/sdpa-prefill/sdpa-prefill.reference.ts';
import { faultsAgainstReference, openAnyGpu, uniform } from './against-reference.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openAnyGpu();
});
afterAll(() => gpu.close());

describe('qk-norm', () => {
  it.each([
    { name: 'tiny queries, in place between gates', shape: { rows: 5, heads: 4, headDim: 64, rowStride: 512, headStride: 128, eps: 1e-6 } },
    { name: 'tiny keys', shape: { rows: 5, heads: 2, headDim: 64, rowStride: 128, headStride: 64, eps: 1e-6 } },
    { name: '2B queries', shape: { rows: 3, heads: 8, headDim: 256, rowStride: 4096, headStride: 512, eps: 1e-6 } },
    { name: 'five heads of 160', shape: { rows: 2, heads: 5, headDim: 160, rowStride: 1700, headStride: 321, eps: 1e-6 } },
    { name: 'a head narrower than the workgroup', shape: { rows: 1, heads: 3, headDim: 7, rowStride: 30, headStride: 9, eps: 1e-6 } },
  ])('$name', async ({ shape }) => {
    const random = new Random(1);
    const inputs = { x: uniform(random, qkNorm.sizes(shape)['x']!, 3), weight: uniform(random, shape.headDim, 2) };
    expect(await faultsAgainstReference(gpu, { kernel: qkNorm, shape, inputs, expected: qkNormReference(shape, inputs), ulps: 8 })).toEqual([]);
  });
});

describe('rope', () => {
  it.each([
    { name: 'tiny', shape: { rows: 5, heads: 4, headDim: 64, rotary: 16, context: 40 }, position: 30 },
    { name: '2B', shape: { rows: 3, heads: 8, headDim: 256, rotary: 64, context: 8 }, position: 0 },
    { name: 'rotary 96 of 160', shape: { rows: 2, heads: 5, headDim: 160, rotary: 96, context: 9 }, position: 7 },
    { name: 'every dimension rotated', shape: { rows: 1, heads: 1, headDim: 6, rotary: 6, context: 3 }, position: 2 },
    { name: 'rows past the table', shape: { rows: 4, heads: 2, headDim: 8, rotary: 4, context: 5 }, position: 3 },
  ])('$name', async ({ shape, position }) => {
    const random = new Random(2);
    const table = Float32Array.from({ length: shape.context * shape.rotary }, (_, i) => {
      const half = shape.rotary / 2;
      const angle = Math.floor(i / shape.rotary) * 1e7 ** -((i % half) / half);
      return i % shape.rotary < half ? Math.cos(angle) : Math.sin(angle);
    });
    const inputs = { x: uniform(random, shape.rows * shape.heads * shape.headDim, 4), table, position: Uint32Array.of(position) };
    expect(await faultsAgainstReference(gpu, { kernel: rope, shape, inputs, expected: ropeReference(shape, inputs), ulps: 2 })).toEqual([]);
  });
});

describe('kv-write', () => {
  it.each([
    { name: 'tiny', shape: { rows: 5, kvHeads: 2, headDim: 64, context: 12 }, position: 6 },
    { name: '2B', shape: { rows: 1, kvHeads: 2, headDim: 256, context: 6 }, position: 5 },
    { name: 'one head of 160', shape: { rows: 3, kvHeads: 1, headDim: 160, context: 4 }, position: 0 },
    { name: 'rows past the context', shape: { rows: 4, kvHeads: 3, headDim: 5, context: 6 }, position: 4 },
  ])('$name', async ({ shape: sizes, position }) => {
    const random = new Random(3);
    const width = sizes.kvHeads * sizes.headDim;
    const shape = { ...sizes, vStride: width, vOffset: 0 };
    const inputs = {
      k: uniform(random, shape.rows * width),
      v: uniform(random, shape.rows * width),
      position: Uint32Array.of(position),
      kCache: uniform(random, shape.context * width),
      vCache: uniform(random, shape.context * width),
    };
    expect(await faultsAgainstReference(gpu, { kernel: kvWrite, shape, inputs, expected: kvWriteReference(shape, inputs), ulps: 0 })).toEqual([]);
  });
});

/** Queries of ±2 and keys of ±1 spread the scores of a 64-wide head over about ±4; values past the attended keys are huge. */
function attentionInputs(shape: { rows: number; heads: number; kvHeads: number; headDim: number; context: number }, position: number) {
  const random = new Random(4);
  const width = shape.kvHeads * shape.headDim;
  const vCache = uniform(random, shape.context * width);
  vCache.fill(1e30, (position + shape.rows) * width);
  return {
    q: uniform(random, shape.rows * shape.heads * shape.headDim, 2),
    kCache: uniform(random, shape.context * width),
    vCache,
    position: Uint32Array.of(position),
  };
}

describe('sdpa-prefill', () => {
  it.each([
    { name: 'tiny', shape: { rows: 21, heads: 4, kvHeads: 2, headDim: 64, context: 100 }, position: 0 },
    { name: 'tiny, a later chunk', shape: { rows: 16, heads: 4, kvHeads: 2, headDim: 64, context: 100 }, position: 67 },
    { name: '2B', shape: { rows: 9, heads: 8, kvHeads: 2, headDim: 256, context: 50 }, position: 33 },
    { name: 'five heads of 160 on one', shape: { rows: 3, heads: 5, kvHeads: 1, headDim: 160, context: 70 }, position: 64 },
    { name: 'five heads on two', shape: { rows: 2, heads: 5, kvHeads: 2, headDim: 24, context: 3 }, position: 1 },
    { name: 'one row, one key', shape: { rows: 1, heads: 1, kvHeads: 1, headDim: 3, context: 1 }, position: 0 },
    { name: 'the widest head', shape: { rows: 1, heads: 1, kvHeads: 1, headDim: 448, context: 40 }, position: 35 },
  ])('$name', async ({ shape, position }) => {
    const inputs = attentionInputs(shape, position);
    expect(await faultsAgainstReference(gpu, { kernel: sdpaPrefill, shape, inputs, expected: sdpaPrefillReference(shape, inputs), ulps: 64 })).toEqual([]);
  });

  it('stays right where exponentials of raw scores would overflow and where early keys weigh nothing', async () => {
    const shape = { rows: 8, heads: 1, kvHeads: 1, headDim: 4, context: 80 };
    const random = new Random(5);
    const kCache = Float32Array.from({ length: 80 * 4 }, (_, i) => (i % 4 === 0 ? Math.floor(i / 4) : 0));
    const inputs = { q: new Float32Array(32).fill(400), kCache, vCache: uniform(random, 320), position: Uint32Array.of(72) };
    expect(await faultsAgainstReference(gpu, { kernel: sdpaPrefill, shape, inputs, expected: sdpaPrefillReference(shape, inputs), ulps: 4 })).toEqual([]);
    const falling = { ...inputs, q: new Float32Array(32).fill(-400) };
    expect(await faultsAgainstReference(gpu, { kernel: sdpaPrefill, shape, inputs: falling, expected: sdpaPrefillReference(shape, falling), ulps: 4 })).toEqual(
      [],
    );
  });
});

describe('sdpa-decode', () => {
  it.each([
    { name: 'tiny, one key', shape: { rows: 1, heads: 4, kvHeads: 2, headDim: 64, context: 9 }, position: 0 },
    { name: 'tiny, three chunks', shape: { rows: 1, heads: 4, kvHeads: 2, headDim: 64, context: 700 }, position: 600 },
    { name: '2B, a whole chunk', shape: { rows: 1, heads: 8, kvHeads: 2, headDim: 256, context: 300 }, position: 255 },
    { name: '2B, one key more', shape: { rows: 1, heads: 8, kvHeads: 2, headDim: 256, context: 300 }, position: 256 },
    { name: 'five heads of 160 on one', shape: { rows: 1, heads: 5, kvHeads: 1, headDim: 160, context: 400 }, position: 333 },
    { name: 'five heads of 96 on two', shape: { rows: 1, heads: 5, kvHeads: 2, headDim: 96, context: 40 }, position: 17 },
    { name: 'a head of 320', shape: { rows: 1, heads: 2, kvHeads: 2, headDim: 320, context: 300 }, position: 299 },
    { name: '7,168 keys', shape: { rows: 1, heads: 2, kvHeads: 1, headDim: 64, context: 7168 }, position: 7167 },
  ])('$name', async ({ shape, position }) => {
    const inputs = attentionInputs(shape, position);
    expect(await faultsAgainstReference(gpu, { kernel: sdpaDecode, shape, inputs, expected: sdpaDecodeReference(shape, inputs), ulps: 64 })).toEqual([]);
  });

  it('stays right where exponentials of raw scores would overflow and where early keys weigh nothing', async () => {
    const shape = { rows: 1, heads: 1, kvHeads: 1, headDim: 4, context: 600 };
    const kCache = Float32Array.from({ length: 600 * 4 }, (_, i) => (i % 4 === 0 ? Math.floor(i / 4) : 0));
    const inputs = { q: new Float32Array(4).fill(400), kCache, vCache: uniform(new Random(6), 2400), position: Uint32Array.of(599) };
    expect(await faultsAgainstReference(gpu, { kernel: sdpaDecode, shape, inputs, expected: sdpaDecodeReference(shape, inputs), ulps: 4 })).toEqual([]);
    const falling = { ...inputs, q: new Float32Array(4).fill(-400) };
    expect(await faultsAgainstReference(gpu, { kernel: sdpaDecode, shape, inputs: falling, expected: sdpaDecodeReference(shape, falling), ulps: 4 })).toEqual(
      [],
    );
  });
});

describe('output-gate', () => {
  it.each([
    { name: 'tiny', shape: { rows: 5, heads: 4, headDim: 64, rowStride: 512, headStride: 128, gateOffset: 64 } },
    { name: '2B', shape: { rows: 2, heads: 8, headDim: 256, rowStride: 4096, headStride: 512, gateOffset: 256 } },
    { name: 'five heads of 160', shape: { rows: 1, heads: 5, headDim: 160, rowStride: 1603, headStride: 320, gateOffset: 161 } },
  ])('$name', async ({ shape }) => {
    const random = new Random(7);
    const inputs = { attn: uniform(random, shape.rows * shape.heads * shape.headDim, 2), qg: uniform(random, shape.rows * shape.rowStride, 9) };
    expect(await faultsAgainstReference(gpu, { kernel: outputGate, shape, inputs, expected: outputGateReference(shape, inputs), ulps: 32 })).toEqual([]);
  });

  it('saturates instead of overflowing', async () => {
    const shape = { rows: 1, heads: 1, headDim: 6, rowStride: 12, headStride: 12, gateOffset: 6 };
    const gates = [3e38, -3e38, 1e4, -1e4, 200, -200];
    const { out } = await runLaunch(gpu, outputGate, shape, undefined, {
      attn: new Float32Array(6).fill(5),
      qg: Float32Array.of(0, 0, 0, 0, 0, 0, ...gates),
    });
    expect([...out!]).toEqual([5, 0, 5, 0, 5, 0]);
  });
});
