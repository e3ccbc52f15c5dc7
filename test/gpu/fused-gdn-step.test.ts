/** gdn-step gives, bit for bit, what its chain gives: conv1d-decode, gdn-gates, qk-l2-norm, gdn-decode, gated-rms-norm. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Gpu } from '../../engine/gpu/device.ts';
import { runLaunch, type TypedArray } from '../support/run-launch.ts';
import { conv1dDecode } from '../../kernels/conv1d-decode/conv1d-decode.ts';
import { gatedRmsNorm } from '../../kernels/gated-rms-norm/gated-rms-norm.ts';
import { gdnDecode } from '../../kernels/gdn-decode/gdn-decode.ts';
import { gdnGates } from '../../kernels/gdn-gates/gdn-gates.ts';
import { gdnStep, type GdnStepShape } from '../../kernels/gdn-step/gdn-step.ts';
import { qkL2Norm } from '../../kernels/qk-l2-norm/qk-l2-norm.ts';
import { Random } from '../../kernels/random.ts';
import { openAnyGpu, uniform } from './against-reference.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openAnyGpu();
});
afterAll(() => gpu.close());

function sized(kHeads: number, vHeads: number, dk: number, dv: number, taps: number): GdnStepShape {
  const zOffset = 2 * kHeads * dk + vHeads * dv + 3;
  const bOffset = zOffset + vHeads * dv;
  return { kHeads, vHeads, dk, dv, taps, width: bOffset + 2 * vHeads, zOffset, aOffset: bOffset + vHeads, bOffset, eps: 1e-6 };
}

const cases = [
  { name: 'tiny', shape: sized(2, 4, 64, 64, 4) },
  { name: '2B', shape: sized(16, 16, 128, 128, 4) },
  { name: 'three value heads a key head, 96 by 77, three taps', shape: sized(2, 6, 96, 77, 3) },
  { name: 'two taps, keys of 32, one value', shape: sized(1, 2, 32, 1, 2) },
];

it.each(cases)('$name, three tokens', async ({ shape }) => {
  const random = new Random(31);
  const { kHeads, vHeads, dk, dv, taps, width, zOffset, aOffset, bOffset, eps } = shape;
  const channels = 2 * kHeads * dk + vHeads * dv;
  const convWeight = uniform(random, channels * taps);
  const gates = uniform(random, 2 * vHeads, 3);
  const norm = uniform(random, dv, 2);
  const first = { convState: uniform(random, (taps - 1) * channels, 3), state: uniform(random, vHeads * dv * dk) };
  let fused: Record<string, TypedArray> = first;
  let chain: Record<'convState' | 'state', TypedArray> = first;
  for (let token = 0; token < 3; token++) {
    const x = uniform(random, width, 4);
    fused = await runLaunch(gpu, gdnStep, shape, undefined, { x, convWeight, gates, norm, convState: fused['convState']!, state: fused['state']! });
    const convolved = await runLaunch(gpu, conv1dDecode, { rows: 1, channels, taps }, undefined, {
      x: x.slice(0, channels),
      weight: convWeight,
      state: chain.convState,
    });
    const { g, beta } = await runLaunch(gpu, gdnGates, { rows: 1, vHeads, stride: vHeads, aOffset: 0, bOffset: 0 }, undefined, {
      a: x.slice(aOffset, aOffset + vHeads),
      b: x.slice(bOffset, bOffset + vHeads),
      aLog: gates.slice(0, vHeads),
      dtBias: gates.slice(vHeads),
    });
    const { q, k } = await runLaunch(gpu, qkL2Norm, { rows: 1, kHeads, dk, rowStride: channels }, undefined, { x: convolved['out']! });
    const ruled = await runLaunch(gpu, gdnDecode, { rows: 1, kHeads, vHeads, dk, dv, vStride: channels, vOffset: 2 * kHeads * dk }, undefined, {
      q: q!,
      k: k!,
      v: convolved['out']!,
      g: g!,
      beta: beta!,
      state: chain.state,
    });
    const z = x.slice(zOffset, zOffset + vHeads * dv);
    const { out } = await runLaunch(gpu, gatedRmsNorm, { rows: vHeads, n: dv, heads: vHeads, zStride: vHeads * dv, zOffset: 0, eps }, undefined, {
      x: ruled['out']!,
      z,
      weight: norm,
    });
    chain = { convState: convolved['state']!, state: ruled['state']! };
    for (const [name, array] of Object.entries({ ...chain, out: out! })) expect(words(fused[name]!), `${name} of token ${token}`).toEqual(words(array));
  }
});

function words(array: TypedArray): Uint32Array {
  return new Uint32Array(array.buffer, array.byteOffset, array.length);
}
