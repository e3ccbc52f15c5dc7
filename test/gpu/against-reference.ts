/** Runs one kernel on the device and holds every output against its float64 reference. */
import { expect } from 'vitest';
import { openGpu, type Gpu } from '../../engine/gpu/device.ts';
import { unpackedSoftwareDriver } from '../../engine/gpu/driver-files.ts';
import { POISON, runLaunch, type Arrays } from '../../engine/gpu/run-launch.ts';
import type { Kernel, Shape } from '../../kernels/contract.ts';
import type { Random } from '../../kernels/random.ts';

/** Opens what the environment names, else what the loader finds, else the unpacked software driver. */
export async function openAnyGpu(): Promise<Gpu> {
  const driverFiles = process.env['VK_DRIVER_FILES'];
  if (driverFiles !== undefined) return openGpu({ allowSoftware: true, driverFiles });
  try {
    return await openGpu({ allowSoftware: true });
  } catch (error) {
    const unpacked = unpackedSoftwareDriver();
    if (!unpacked?.driverFiles) throw error;
    return openGpu({ allowSoftware: true, driverFiles: unpacked.driverFiles });
  }
}

/** `count` numbers uniform in [−size, size). */
export function uniform(random: Random, count: number, size = 1): Float32Array {
  return Float32Array.from({ length: count }, () => random.uniform(-size, size));
}

export interface Comparison<S extends Shape> {
  readonly kernel: Kernel<S>;
  readonly shape: S;
  readonly inputs: Arrays;
  /** Expected outputs by binding name. */
  readonly expected: Readonly<Record<string, Float64Array>>;
  /** An output may differ from its expected value by `ulps` · 2⁻²³ of the largest expected magnitude; 0 asks for equality. */
  readonly ulps: number;
}

/**
 * Launches twice between guard words: both launches give the same bits, every output word was written, no input changed, and
 * every output is within `ulps` of its expected value.
 */
export async function agreesWithReference<S extends Shape>(gpu: Gpu, { kernel, shape, inputs, expected, ulps }: Comparison<S>): Promise<void> {
  const what = `${kernel.name} ${JSON.stringify(shape)}`;
  const outputs = await runLaunch(gpu, kernel, shape, undefined, inputs, { guards: true });
  const again = await runLaunch(gpu, kernel, shape, undefined, inputs, { guards: true });
  for (const { name, access } of kernel.bindings) {
    const got = outputs[name]!;
    expect(Buffer.compare(bytes(got), bytes(again[name]!)), `${what}: ${name} repeats`).toBe(0);
    if (access === 'read') {
      expect(Buffer.compare(bytes(got), bytes(inputs[name]!)), `${what}: input ${name} is unchanged`).toBe(0);
      continue;
    }
    expect(new Uint32Array(got.buffer, got.byteOffset, got.length).includes(POISON), `${what}: ${name} has an unwritten word`).toBe(false);
    const values = expected[name]!;
    expect(got.length).toBe(values.length);
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    let worst = 0;
    let at = 0;
    values.forEach((value, i) => {
      const error = Math.abs(got[i]! - value);
      // A NaN must count as the worst error of all.
      if (!(error <= worst)) [worst, at] = [Number.isNaN(error) ? Infinity : error, i];
    });
    expect(worst, `${what}: ${name}[${at}] is ${got[at]}, expected ${values[at]}`).toBeLessThanOrEqual(ulps * 2 ** -23 * largest);
  }
}

function bytes(array: Float32Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
