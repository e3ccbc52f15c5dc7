/** Runs one kernel on the device and holds every output against its float64 reference, for tests. */
import { openGpu, type Gpu } from '../../engine/gpu/device.ts';
import { unpackedSoftwareDriver } from '../../engine/gpu/driver-files.ts';
import { POISON } from '../../engine/contract/written.ts';
import { runLaunch, type Arrays, type TypedArray } from '../support/run-launch.ts';
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
 * Launches twice between guard words and says what is wrong; nothing is when both launches give the same bits, every output word
 * was written, no input changed, and every output is within `ulps` of its expected value.
 * @throws when a launch wrote outside a binding.
 */
export async function faultsAgainstReference<S extends Shape>(gpu: Gpu, { kernel, shape, inputs, expected, ulps }: Comparison<S>): Promise<string[]> {
  const outputs = await runLaunch(gpu, kernel, shape, undefined, inputs);
  const again = await runLaunch(gpu, kernel, shape, undefined, inputs);
  return kernel.bindings.flatMap(({ name, access }) => {
    const got = outputs[name]!;
    if (!sameBits(got, again[name]!)) return [`${name} differs between two launches`];
    if (access === 'read') return sameBits(got, inputs[name]!) ? [] : [`input ${name} changed`];
    if (new Uint32Array(got.buffer, got.byteOffset, got.length).includes(POISON)) return [`${name} has a word that was never written`];
    return valueFaults(name, got, expected[name]!, ulps);
  });
}

function valueFaults(name: string, got: TypedArray, expected: Float64Array, ulps: number): string[] {
  if (got.length !== expected.length) return [`${name} has ${got.length} elements, expected ${expected.length}`];
  const allowed = ulps * 2 ** -23 * expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let worst = 0;
  let at = -1;
  expected.forEach((value, i) => {
    const error = Math.abs(got[i]! - value);
    // A NaN must count as the worst error of all.
    if (!(error <= worst)) [worst, at] = [Number.isNaN(error) ? Infinity : error, i];
  });
  return worst > allowed ? [`${name}[${at}] is ${got[at]}, expected ${expected[at]}: off by ${worst}, allowed ${allowed}`] : [];
}

function sameBits(one: TypedArray, other: TypedArray): boolean {
  return Buffer.compare(bytes(one), bytes(other)) === 0;
}

function bytes(array: TypedArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
