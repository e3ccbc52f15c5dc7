/**
 * Watches what is really recorded on a device, at WebGPU's own calls: which pipeline each dispatch runs and which buffers its bind group
 * binds how, by the layout that Dawn validates. It knows nothing of kernels or plans, so that a plan can be held to it.
 */
import type { Gpu } from './device.ts';

/** One dispatch as it was recorded. Uniform blocks are left out: nobody writes them. */
export interface Observed {
  readonly pipeline: string;
  readonly bindings: readonly { readonly buffer: string; readonly access: 'read' | 'read_write' }[];
  readonly workgroups: readonly (number | undefined)[];
}

/** Watches a device from now on. @returns the list that grows by each dispatch. */
export function observe({ device }: Gpu): Observed[] {
  const seen: Observed[] = [];
  const layouts = new WeakMap<GPUBindGroupLayout, readonly GPUBindGroupLayoutEntry[]>();
  const groups = new WeakMap<GPUBindGroup, Observed['bindings']>();
  after(device, 'createBindGroupLayout', (layout, descriptor) => layouts.set(layout, [...descriptor.entries]));
  after(device, 'createBindGroup', (group, { layout, entries }) => groups.set(group, bindingsOf(layouts.get(layout) ?? [], [...entries])));
  after(device, 'createCommandEncoder', (encoder) => {
    after(encoder, 'beginComputePass', (pass) => {
      let pipeline = '';
      let group: GPUBindGroup | undefined;
      after(pass, 'setPipeline', (_, set) => void (pipeline = set.label));
      after(pass, 'setBindGroup', (_, __, set) => void (group = set ?? undefined));
      after(pass, 'dispatchWorkgroups', (_, ...workgroups) => seen.push({ pipeline, bindings: (group && groups.get(group)) ?? [], workgroups }));
    });
  });
  return seen;
}

function bindingsOf(layout: readonly GPUBindGroupLayoutEntry[], entries: readonly GPUBindGroupEntry[]): Observed['bindings'] {
  return entries.flatMap(({ binding, resource }) => {
    const type = layout.find((entry) => entry.binding === binding)?.buffer?.type;
    if (type !== 'storage' && type !== 'read-only-storage') return [];
    return [{ buffer: (resource as GPUBufferBinding).buffer.label, access: type === 'storage' ? 'read_write' : 'read' } as const];
  });
}

type Methods<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T];

/** Calls `then` with the result and the arguments of each call of a method of one object. */
function after<T extends object, K extends Methods<T>>(
  object: T,
  method: K,
  then: T[K] extends (...args: infer A) => infer R ? (result: R, ...args: A) => unknown : never,
): void {
  const original = object[method] as (...args: unknown[]) => unknown;
  Object.defineProperty(object, method, {
    configurable: true,
    writable: true,
    value: (...args: unknown[]) => {
      const result = original.apply(object, args);
      (then as (...args: unknown[]) => unknown)(result, ...args);
      return result;
    },
  });
}
