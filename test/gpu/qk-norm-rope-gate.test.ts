import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../../engine/gpu/device.ts';
import { runLaunch, type TypedArray } from '../support/run-launch.ts';
import { qkNorm } from '../../kernels/qk-norm/qk-norm.ts';
import { qkNormRopeGateReference } from '../../kernels/qk-norm-rope-gate/qk-norm-rope-gate.reference.ts';
import { qkNormRopeGate, type QkNormRopeGateShape } from '../../kernels/qk-norm-rope-gate/qk-norm-rope-gate.ts';
import { Random } from '../../kernels/random.ts';
import { rope } from '../../kernels/rope/rope.ts';
import { faultsAgainstReference, openAnyGpu, uniform } from './against-reference.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openAnyGpu();
});
afterAll(() => gpu.close());

const eps = 1e-6;
const cases: readonly { name: string; shape: QkNormRopeGateShape; position: number }[] = [
  { name: 'tiny', shape: { rows: 5, heads: 4, kvHeads: 2, headDim: 64, rotary: 16, context: 40, qStride: 512, kStride: 128, eps }, position: 30 },
  { name: '2B', shape: { rows: 3, heads: 8, kvHeads: 2, headDim: 256, rotary: 64, context: 9, qStride: 4096, kStride: 512, eps }, position: 6 },
  {
    name: 'five heads of 160 on two, rotary 96, rows apart',
    shape: { rows: 2, heads: 5, kvHeads: 2, headDim: 160, rotary: 96, context: 9, qStride: 1700, kStride: 333, eps },
    position: 4,
  },
  { name: 'rows past the table', shape: { rows: 4, heads: 2, kvHeads: 1, headDim: 7, rotary: 4, context: 5, qStride: 28, kStride: 7, eps }, position: 3 },
];

function inputsOf({ rows, headDim, rotary, context, qStride, kStride }: QkNormRopeGateShape, position: number) {
  const random = new Random(21);
  const half = rotary / 2;
  return {
    qg: uniform(random, rows * qStride, 3),
    kProj: uniform(random, rows * kStride, 3),
    weight: uniform(random, 2 * headDim, 2),
    table: Float32Array.from({ length: context * rotary }, (_, i) => {
      const angle = Math.floor(i / rotary) * 1e7 ** -((i % half) / half);
      return i % rotary < half ? Math.cos(angle) : Math.sin(angle);
    }),
    position: Uint32Array.of(position),
  };
}

describe('qk-norm-rope-gate', () => {
  it.each(cases)('holds against its reference: $name', async ({ shape, position }) => {
    const inputs = inputsOf(shape, position);
    const expected = { ...qkNormRopeGateReference(shape, inputs) };
    expect(await faultsAgainstReference(gpu, { kernel: qkNormRopeGate, shape, inputs, expected, ulps: 8 })).toEqual([]);
  });

  it.each(cases)('gives the bits of qk-norm, then rope, and the gates’ own: $name', async ({ shape, position }) => {
    const inputs = inputsOf(shape, position);
    const { rows, heads, kvHeads, headDim, rotary, context, qStride, kStride } = shape;
    const chain = async (x: Float32Array, weight: Float32Array, count: number, rowStride: number, headStride: number): Promise<Uint32Array> => {
      const within = { rows, heads: count, headDim, rowStride, headStride, eps };
      const normed = await runLaunch(gpu, qkNorm, within, undefined, { x: x.slice(0, qkNorm.sizes(within)['x']), weight });
      const turned = await runLaunch(gpu, rope, { rows, heads: count, headDim, rotary, context }, undefined, {
        x: normed['out']!,
        table: inputs.table,
        position: inputs.position,
      });
      return words(turned['out']!);
    };
    const fused = await runLaunch(gpu, qkNormRopeGate, shape, undefined, inputs);
    expect(words(fused['q']!)).toEqual(await chain(inputs.qg, inputs.weight.slice(0, headDim), heads, qStride, 2 * headDim));
    expect(words(fused['k']!)).toEqual(await chain(inputs.kProj, inputs.weight.slice(headDim), kvHeads, kStride, headDim));
    const gates = Float32Array.from({ length: rows * heads * headDim }, (_, i) => {
      const head = Math.floor(i / headDim);
      return inputs.qg[Math.floor(head / heads) * qStride + (head % heads) * 2 * headDim + headDim + (i % headDim)]!;
    });
    expect(words(fused['gate']!)).toEqual(words(gates));
  });
});

function words(array: TypedArray): Uint32Array {
  return new Uint32Array(array.buffer, array.byteOffset, array.length);
}
