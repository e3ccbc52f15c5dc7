import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../../engine/gpu/device.ts';
import { runLaunch, type Arrays } from '../support/run-launch.ts';
import { conv1dDecode } from '../../kernels/conv1d-decode/conv1d-decode.ts';
import { conv1dDecodeReference } from '../../kernels/conv1d-decode/conv1d-decode.reference.ts';
import { conv1dPrefill } from '../../kernels/conv1d-prefill/conv1d-prefill.ts';
import { conv1dPrefillReference } from '../../kernels/conv1d-prefill/conv1d-prefill.reference.ts';
import { gatedRmsNorm } from '../../kernels/gated-rms-norm/gated-rms-norm.ts';
import { gatedRmsNormReference } from '../../kernels/gated-rms-norm/gated-rms-norm.reference.ts';
import { gdnChunkPrepare } from '../../kernels/gdn-chunk-prepare/gdn-chunk-prepare.ts';
import { gdnDecode } from '../../kernels/gdn-decode/gdn-decode.ts';
import { gdnDecodeReference } from '../../kernels/gdn-decode/gdn-decode.reference.ts';
import { gdnGates } from '../../kernels/gdn-gates/gdn-gates.ts';
import { gdnGatesReference } from '../../kernels/gdn-gates/gdn-gates.reference.ts';
import { gdnPrefill } from '../../kernels/gdn-prefill/gdn-prefill.ts';
import { gdnPrefillReference } from '../../kernels/gdn-prefill/gdn-prefill.reference.ts';
import { gdnPrefillChunked } from '../../kernels/gdn-prefill-chunked/gdn-prefill-chunked.ts';
import { qkL2Norm } from '../../kernels/qk-l2-norm/qk-l2-norm.ts';
import { qkL2NormReference } from '../../kernels/qk-l2-norm/qk-l2-norm.reference.ts';
import { Random } from '../../kernels/random.ts';
import { faultsAgainstReference, openAnyGpu, uniform } from './against-reference.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openAnyGpu();
});
afterAll(() => gpu.close());

function convInputs(shape: { rows: number; channels: number; taps: number }) {
  const random = new Random(11);
  const { rows, channels, taps } = shape;
  return { x: uniform(random, rows * channels, 3), weight: uniform(random, channels * taps), state: uniform(random, (taps - 1) * channels, 3) };
}

describe('conv1d', () => {
  it.each([
    { name: 'tiny', shape: { rows: 9, channels: 512, taps: 4 } },
    { name: '2B', shape: { rows: 3, channels: 6144, taps: 4 } },
    { name: 'fewer rows than the state holds', shape: { rows: 2, channels: 70, taps: 4 } },
    { name: 'one row of seven taps', shape: { rows: 1, channels: 65, taps: 7 } },
    { name: 'two taps', shape: { rows: 5, channels: 3, taps: 2 } },
  ])('prefill, $name', async ({ shape: sizes }) => {
    const shape = { ...sizes, stride: sizes.channels };
    const inputs = convInputs(shape);
    expect(await faultsAgainstReference(gpu, { kernel: conv1dPrefill, shape, inputs, expected: conv1dPrefillReference(shape, inputs), ulps: 16 })).toEqual([]);
  });

  it.each([
    { name: 'tiny', shape: { rows: 1, channels: 512, taps: 4 } },
    { name: '2B', shape: { rows: 1, channels: 6144, taps: 4 } },
    { name: 'two taps', shape: { rows: 1, channels: 67, taps: 2 } },
    { name: 'seven taps', shape: { rows: 1, channels: 5, taps: 7 } },
  ])('decode, $name', async ({ shape }) => {
    const inputs = convInputs(shape);
    expect(await faultsAgainstReference(gpu, { kernel: conv1dDecode, shape, inputs, expected: conv1dDecodeReference(shape, inputs), ulps: 16 })).toEqual([]);
  });

  it('decode repeats prefill row by row, bit for bit', async () => {
    const shape = { rows: 6, channels: 130, taps: 4, stride: 130 };
    const inputs = convInputs(shape);
    const prefill = await runLaunch(gpu, conv1dPrefill, shape, undefined, inputs);
    let state: Arrays[string] = inputs.state;
    for (let row = 0; row < shape.rows; row++) {
      const x = inputs.x.slice(row * shape.channels, (row + 1) * shape.channels);
      const step = await runLaunch(gpu, conv1dDecode, { ...shape, rows: 1 }, undefined, { x, weight: inputs.weight, state });
      expect(words(step['out']!)).toEqual(words(prefill['out']!.slice(row * shape.channels, (row + 1) * shape.channels)));
      state = step['state']!;
    }
    expect(words(state)).toEqual(words(prefill['state']!));
  });

  it('saturates instead of overflowing', async () => {
    const inputs = { x: Float32Array.of(3e38, -3e38), weight: Float32Array.of(0, 1, 0, 1), state: new Float32Array(2) };
    const { out } = await runLaunch(gpu, conv1dDecode, { rows: 1, channels: 2, taps: 2 }, undefined, inputs);
    expect([out![0], Math.abs(out![1]!)]).toEqual([Math.fround(3e38), 0]);
  });
});

describe('gdn-gates', () => {
  it.each([
    { name: 'tiny', shape: { rows: 5, vHeads: 4 } },
    { name: '2B', shape: { rows: 9, vHeads: 16 } },
    { name: 'six heads, one row', shape: { rows: 1, vHeads: 6 } },
  ])('$name', async ({ shape: sizes }) => {
    const shape = { ...sizes, stride: sizes.vHeads, aOffset: 0, bOffset: 0 };
    const random = new Random(12);
    const inputs = {
      a: uniform(random, shape.rows * shape.vHeads, 6),
      b: uniform(random, shape.rows * shape.vHeads, 9),
      aLog: uniform(random, shape.vHeads, 3),
      dtBias: uniform(random, shape.vHeads, 3),
    };
    expect(await faultsAgainstReference(gpu, { kernel: gdnGates, shape, inputs, expected: gdnGatesReference(shape, inputs), ulps: 32 })).toEqual([]);
  });

  it('keeps relative precision of the softplus from −80 to 1e30, and saturates the sigmoid', async () => {
    const a = Float32Array.of(-80, -40, -18.7, -5, -1, -1e-3, 0, 1e-3, 1, 5, 18.7, 40, 1e30);
    const shape = { rows: a.length, vHeads: 1, stride: 1, aOffset: 0, bOffset: 0 };
    const b = Float32Array.from(a, (_, i) => (i % 2 ? 3e38 : -3e38));
    const inputs = { a, b, aLog: new Float32Array(1), dtBias: new Float32Array(1) };
    const { g, beta } = await runLaunch(gpu, gdnGates, shape, undefined, inputs);
    const expected = gdnGatesReference(shape, inputs);
    // WGSL allows exp an error of 3 + 2|x| units in the last place: 163 at −80. The rest is fewer than 16 roundings.
    expected.g.forEach((value, i) =>
      expect(Math.abs(g![i]! / value - 1), `g at ${a[i]}`).toBeLessThanOrEqual((3 + 2 * Math.min(Math.abs(a[i]!), 88) + 16) * 2 ** -23),
    );
    expect([...beta!]).toEqual(Array.from(b, (x) => (x > 0 ? 1 : 0)));
  });
});

describe('qk-l2-norm', () => {
  it.each([
    { name: 'tiny', shape: { rows: 5, kHeads: 2, dk: 64, rowStride: 512 } },
    { name: '2B', shape: { rows: 2, kHeads: 16, dk: 128, rowStride: 6144 } },
    { name: 'three heads of 160', shape: { rows: 3, kHeads: 3, dk: 160, rowStride: 961 } },
    { name: 'narrower than the workgroup', shape: { rows: 1, kHeads: 1, dk: 5, rowStride: 10 } },
  ])('$name', async ({ shape }) => {
    const inputs = { x: uniform(new Random(13), shape.rows * shape.rowStride, 2) };
    expect(await faultsAgainstReference(gpu, { kernel: qkL2Norm, shape, inputs, expected: qkL2NormReference(shape, inputs), ulps: 8 })).toEqual([]);
  });

  it('gives zeros, not NaN, for a head of zeros', async () => {
    const shape = { rows: 1, kHeads: 1, dk: 4, rowStride: 8 };
    const { q, k } = await runLaunch(gpu, qkL2Norm, shape, undefined, { x: new Float32Array(8) });
    expect([...q!, ...k!]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });
});

type GdnShape = { rows: number; kHeads: number; vHeads: number; dk: number; dv: number; vStride: number; vOffset: number };

/** Unit-length keys, gates and write strengths as trained models have them, and a state that is not empty. */
function gdnInputs(shape: GdnShape) {
  const random = new Random(14);
  const { rows, kHeads, vHeads, dk, dv, vStride } = shape;
  return {
    q: uniform(random, rows * kHeads * dk, Math.sqrt(3) / dk),
    k: uniform(random, rows * kHeads * dk, Math.sqrt(3 / dk)),
    v: uniform(random, rows * vStride),
    g: Float32Array.from({ length: rows * vHeads }, () => random.uniform(-2, 0)),
    beta: Float32Array.from({ length: rows * vHeads }, () => random.uniform(0, 1)),
    state: uniform(random, vHeads * dv * dk),
  };
}

describe('gdn', () => {
  it.each([
    { name: 'tiny', shape: { rows: 7, kHeads: 2, vHeads: 4, dk: 64, dv: 64, vStride: 512, vOffset: 256 } },
    { name: '2B', shape: { rows: 2, kHeads: 16, vHeads: 16, dk: 128, dv: 128, vStride: 6144, vOffset: 4096 } },
    { name: 'five heads on one, nothing a multiple of 8', shape: { rows: 3, kHeads: 1, vHeads: 5, dk: 37, dv: 13, vStride: 71, vOffset: 3 } },
    { name: 'the widest key', shape: { rows: 2, kHeads: 1, vHeads: 2, dk: 256, dv: 32, vStride: 64, vOffset: 0 } },
    { name: '130 rows', shape: { rows: 130, kHeads: 1, vHeads: 2, dk: 16, dv: 8, vStride: 16, vOffset: 0 } },
  ])('prefill, $name', async ({ shape }) => {
    const inputs = gdnInputs(shape);
    expect(await faultsAgainstReference(gpu, { kernel: gdnPrefill, shape, inputs, expected: gdnPrefillReference(shape, inputs), ulps: 32 })).toEqual([]);
  });

  it.each([
    { name: 'tiny', shape: { rows: 1, kHeads: 2, vHeads: 4, dk: 64, dv: 64, vStride: 512, vOffset: 256 } },
    { name: '2B', shape: { rows: 1, kHeads: 16, vHeads: 16, dk: 128, dv: 128, vStride: 6144, vOffset: 4096 } },
    { name: 'three key heads, nothing a multiple of 8', shape: { rows: 1, kHeads: 3, vHeads: 6, dk: 37, dv: 13, vStride: 81, vOffset: 3 } },
  ])('decode, $name', async ({ shape }) => {
    const inputs = gdnInputs(shape);
    expect(await faultsAgainstReference(gpu, { kernel: gdnDecode, shape, inputs, expected: gdnDecodeReference(shape, inputs), ulps: 32 })).toEqual([]);
  });

  it.each([
    { name: 'tiny', shape: { rows: 6, kHeads: 2, vHeads: 4, dk: 64, dv: 64, vStride: 512, vOffset: 256 } },
    { name: '2B heads', shape: { rows: 3, kHeads: 2, vHeads: 2, dk: 128, dv: 128, vStride: 256, vOffset: 0 } },
    { name: 'nothing a multiple of 8', shape: { rows: 4, kHeads: 1, vHeads: 5, dk: 37, dv: 13, vStride: 71, vOffset: 3 } },
  ])('decode repeats prefill row by row, bit for bit: $name', async ({ shape }) => {
    const inputs = gdnInputs(shape);
    const prefill = await runLaunch(gpu, gdnPrefill, shape, undefined, inputs);
    const rowOf = (array: Float32Array | Uint32Array, row: number) => array.slice((row * array.length) / shape.rows, ((row + 1) * array.length) / shape.rows);
    let state: Arrays[string] = inputs.state;
    for (let row = 0; row < shape.rows; row++) {
      const { q, k, v, g, beta } = inputs;
      const one = { q: rowOf(q, row), k: rowOf(k, row), v: rowOf(v, row), g: rowOf(g, row), beta: rowOf(beta, row), state };
      const step = await runLaunch(gpu, gdnDecode, { ...shape, rows: 1 }, undefined, one);
      expect(words(step['out']!)).toEqual(words(rowOf(prefill['out']!, row)));
      state = step['state']!;
    }
    expect(words(state)).toEqual(words(prefill['state']!));
  });

  it.each([
    { name: 'tiny', shape: { rows: 65, kHeads: 2, vHeads: 4, dk: 64, dv: 64, vStride: 512, vOffset: 256 } },
    { name: '2B heads', shape: { rows: 40, kHeads: 2, vHeads: 2, dk: 128, dv: 128, vStride: 256, vOffset: 0 } },
    { name: 'three key heads, two rows', shape: { rows: 2, kHeads: 3, vHeads: 6, dk: 64, dv: 32, vStride: 199, vOffset: 7 } },
  ])('the chunks, prepared on the device, give what the recurrence gives: $name', async ({ shape }) => {
    const inputs = gdnInputs(shape);
    const { rows, kHeads, vHeads, dk } = shape;
    const { q, k, g, beta } = inputs;
    const { mixes } = await runLaunch(gpu, gdnChunkPrepare, { rows, kHeads, vHeads, dk }, undefined, { q, k, g, beta });
    const comparison = { kernel: gdnPrefillChunked, shape, inputs: { ...inputs, mixes: mixes! }, expected: gdnPrefillReference(shape, inputs), ulps: 32 };
    expect(await faultsAgainstReference(gpu, comparison)).toEqual([]);
  });
});

describe('gated-rms-norm', () => {
  it.each([
    { name: 'tiny', shape: { rows: 20, n: 64, eps: 1e-6 } },
    { name: '2B', shape: { rows: 32, n: 128, eps: 1e-6 } },
    { name: 'wider than the workgroup', shape: { rows: 3, n: 161, eps: 1e-6 } },
    { name: 'narrower than the workgroup', shape: { rows: 1, n: 3, eps: 1e-6 } },
  ])('$name', async ({ shape: sizes }) => {
    const shape = { ...sizes, heads: 1, zStride: sizes.n, zOffset: 0 };
    const random = new Random(15);
    const inputs = { x: uniform(random, shape.rows * shape.n, 2), z: uniform(random, shape.rows * shape.n, 6), weight: uniform(random, shape.n, 2) };
    expect(await faultsAgainstReference(gpu, { kernel: gatedRmsNorm, shape, inputs, expected: gatedRmsNormReference(shape, inputs), ulps: 32 })).toEqual([]);
  });

  it('saturates the gate instead of overflowing', async () => {
    const inputs = { x: Float32Array.of(1, 1), z: Float32Array.of(1e37, -3e38), weight: Float32Array.of(2, 2) };
    const { out } = await runLaunch(gpu, gatedRmsNorm, { rows: 1, n: 2, heads: 1, zStride: 2, zOffset: 0, eps: 1e-12 }, undefined, inputs);
    expect(out![0]! / 2e37).toBeCloseTo(1, 6);
    expect(Math.abs(out![1]!)).toBe(0);
  });
});

function words(array: Float32Array | Uint32Array): Uint32Array {
  return new Uint32Array(array.buffer, array.byteOffset, array.length);
}
