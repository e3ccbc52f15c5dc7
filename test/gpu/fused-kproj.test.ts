/** The fused projections give, bit for bit, what the chain of kernels that they replace gives. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../../engine/gpu/device.ts';
import { runLaunch, type TypedArray } from '../support/run-launch.ts';
import { normGateUpQ4 } from '../../kernels/norm-gate-up-q4/norm-gate-up-q4.ts';
import { normQmmQ4 } from '../../kernels/norm-qmm-q4/norm-qmm-q4.ts';
import { qmmQ4Add } from '../../kernels/qmm-q4-add/qmm-q4-add.ts';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { Random } from '../../kernels/random.ts';
import { residualAdd } from '../../kernels/residual-add/residual-add.ts';
import { rmsNorm } from '../../kernels/rms-norm/rms-norm.ts';
import { q4Table, type Q4Table } from '../../kernels/shared/q4-fill.ts';
import { SPLIT_VARIANTS } from '../../kernels/shared/split-k.ts';
import { siluMul } from '../../kernels/silu-mul/silu-mul.ts';
import { openAnyGpu, uniform } from './against-reference.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openAnyGpu();
});
afterAll(() => gpu.close());

const eps = 1e-6;
const variants = Object.keys(SPLIT_VARIANTS);
// A tail of one output, a row of several stages, and more blocks than workgroups.
const cases = [
  { n: 77, k: 320 },
  { n: 5, k: 4160 },
  { n: 4107, k: 64 },
] as const;

function table(random: Random, rows: number, k: number): Q4Table {
  return q4Table(
    random,
    rows * k,
    () => random.uniform(-0.02, 0.02),
    () => random.uniform(-0.1, 0.1),
  );
}

/** The unfused product of a variant's family. */
async function product(variant: string, x: TypedArray, n: number, k: number, weights: Q4Table): Promise<TypedArray> {
  const chain = SPLIT_VARIANTS[variant]!.family === 'fixed' ? 'fixed' : 'split';
  return (await runLaunch(gpu, qmmQ4, { rows: 1, n, k }, chain, { x, ...weights }))['y']!;
}

async function normed(x: Float32Array, weight: Float32Array): Promise<TypedArray> {
  return (await runLaunch(gpu, rmsNorm, { rows: 1, n: x.length, eps }, undefined, { x, weight }))['out']!;
}

/** Rows from `first` on of a table; `first` is even, so that they begin a word of scales and biases. */
function rowsOf({ codes, scales, biases }: Q4Table, first: number, n: number, k: number): Q4Table {
  const pair = (first * k) / 128;
  const pairs = Math.ceil((n * k) / 128);
  return {
    codes: codes.slice((first * k) / 8, ((first + n) * k) / 8),
    scales: scales.slice(pair, pair + pairs),
    biases: biases.slice(pair, pair + pairs),
  };
}

describe.each(cases)('$n outputs of $k', ({ n, k }) => {
  it.each(variants)('norm-qmm-q4/%s gives the bits of rms-norm, then its family’s qmm-q4', async (variant) => {
    const random = new Random(n + k);
    const x = uniform(random, k, 3);
    const norm = uniform(random, k, 2);
    const weights = table(random, n, k);
    const fused = await runLaunch(gpu, normQmmQ4, { n, k, eps }, variant, { x, norm, ...weights });
    expect(words(fused['y']!)).toEqual(words(await product(variant, await normed(x, norm), n, k, weights)));
  });

  it.each(variants)('qmm-q4-add/%s gives the bits of its family’s qmm-q4, then residual-add', async (variant) => {
    const random = new Random(n * k);
    const x = uniform(random, k, 3);
    const residual = uniform(random, n, 2);
    const weights = table(random, n, k);
    const fused = await runLaunch(gpu, qmmQ4Add, { n, k }, variant, { x, residual, ...weights });
    const chain = await runLaunch(gpu, residualAdd, { count: n }, undefined, { a: residual, b: await product(variant, x, n, k, weights) });
    expect(words(fused['out']!)).toEqual(words(chain['out']!));
  });

  it.each(variants)('norm-gate-up-q4/%s gives the bits of rms-norm, two of its family’s qmm-q4, and silu-mul', async (variant) => {
    const random = new Random(2 * n + k);
    const x = uniform(random, k, 3);
    const norm = uniform(random, k, 2);
    const upRow = n + 2 - (n % 2);
    const weights = table(random, upRow + n, k);
    const fused = await runLaunch(gpu, normGateUpQ4, { n, k, upRow, eps }, variant, { x, norm, ...weights });
    const m = await normed(x, norm);
    const gate = await product(variant, m, n, k, rowsOf(weights, 0, n, k));
    const up = await product(variant, m, n, k, rowsOf(weights, upRow, n, k));
    const chain = await runLaunch(gpu, siluMul, { rows: 1, n, stride: n, upOffset: 0 }, undefined, { gate, up });
    expect(words(fused['out']!)).toEqual(words(chain['out']!));
  });
});

function words(array: TypedArray): Uint32Array {
  return new Uint32Array(array.buffer, array.byteOffset, array.length);
}
