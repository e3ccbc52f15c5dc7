/**
 * Dawn instances. Every object that `create()` returns is kept on globalThis: if V8 collects one while its device lives,
 * the process dies in `InstanceBase::ProcessEvents` (node-webgpu #18 is related; 6 of 6 runs crashed under forced GC).
 */
import { create, globals } from 'webgpu';
import { driverVariables } from '../protocol.ts';

declare global {
  var fleetDawnInstances: GPU[] | undefined;
}

/** Timestamps come in 65.5 µs steps unless this toggle is off; unquantised they are nanoseconds. */
const DISABLED = 'timestamp_quantization';

/**
 * SwiftShader unrolls what this extension asks of it, 0.3 s of compilation for each 4 KiB of workgroup memory; without it Dawn writes
 * a loop that zeroes the same memory (1.4 s became 0.13 for 15 KiB).
 */
const UNROLLED_ZEROING = 'use_vulkan_zero_initialize_workgroup_memory_extension';

/** An adapter as Dawn lists it. `name` is the driver's device name, unedited. */
export interface ListedAdapter {
  readonly backend: string;
  readonly name: string;
}

/** Puts WebGPU's constants, such as GPUBufferUsage, where a browser has them. */
export function defineConstants(): void {
  if (!('GPUBufferUsage' in globalThis)) Object.assign(globalThis, globals);
}

/**
 * Creates a Dawn instance and pins it for the life of the process.
 * @param options dawn.node options such as `adapter=NAME`, `backend=vulkan`.
 * @param toggles Dawn toggles to switch on.
 */
export function dawnInstance(options: readonly string[], toggles: readonly string[] = []): GPU {
  defineConstants();
  Object.assign(process.env, driverVariables(process.env));
  const swiftShader = options.some((option) => /^adapter=SwiftShader/i.test(option));
  const enabled = toggles.length > 0 ? [`enable-dawn-features=${toggles.join(',')}`] : [];
  const gpu = create([`disable-dawn-features=${swiftShader ? `${DISABLED},${UNROLLED_ZEROING}` : DISABLED}`, ...enabled, ...options]);
  (globalThis.fleetDawnInstances ??= []).push(gpu);
  return gpu;
}

/** The adapters that open in this process's environment. dawn.node prints them when it is asked for one that is not there. */
export async function listAdapters(): Promise<ListedAdapter[]> {
  try {
    await dawnInstance(['adapter=no such adapter']).requestAdapter();
    return [];
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [...text.matchAll(/backend: '([^']*)', name: '([^\n]*)'$/gm)].map(([, backend, name]) => ({ backend: backend!, name: name! }));
  }
}

/** Dawn's `info.device` is the name in this form. */
export function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
