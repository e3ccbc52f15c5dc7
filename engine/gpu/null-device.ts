/**
 * Devices that compute nothing. Dawn's null backend runs the whole front end, validation included, and no driver: what it takes is the
 * host's share. A plan device is not even that: its buffers are plain objects, for building steps as data.
 */
import { EngineBroken } from '../errors.ts';
import { RECORD_SCHEMA, type AdapterRecord } from '../protocol.ts';
import { limitsOf } from './adapter-record.ts';
import { Gpu } from './device.ts';
import { dawnInstance, defineConstants } from './instance.ts';

/** Never emitted: no figure of such a device is evidence. `gpu`, so that no wait naps. */
function record(name: string, limits: Record<string, number>): AdapterRecord {
  const unknown = { vendor: '', architecture: '', device: name, description: '', driver: 'none', driverFiles: null };
  const sizes = { subgroupMinSize: null, subgroupMaxSize: null };
  return { schema: RECORD_SCHEMA, kind: 'adapter', name, backend: name, evidence: 'gpu', features: [], limits, ...unknown, ...sizes };
}

/**
 * Opens Dawn's null backend. Its memory ends near 500 MiB, and a buffer mapped at creation counts twice there, so such a buffer is made
 * unmapped and what is written into it is dropped.
 */
export async function openNullGpu(): Promise<Gpu> {
  const adapter = await dawnInstance(['backend=null']).requestAdapter();
  if (!adapter) throw new EngineBroken('Dawn has no null backend here');
  const limits = limitsOf(adapter.limits);
  const device = await adapter.requestDevice({ requiredLimits: limits });
  const create = device.createBuffer.bind(device);
  device.createBuffer = ({ mappedAtCreation = false, ...descriptor }) => {
    const buffer = create(descriptor);
    return mappedAtCreation ? Object.assign(buffer, dropped(descriptor.size)) : buffer;
  };
  return new Gpu(device, record('null backend', limits));
}

/** A device for planning, whose bindings take `bindingLimit` bytes. Anything but making buffers fails on it. */
export function planGpu(bindingLimit: number): Gpu {
  defineConstants();
  const limits = { maxStorageBufferBindingSize: bindingLimit, maxBufferSize: bindingLimit };
  const device = {
    limits,
    lost: new Promise<never>(() => undefined),
    addEventListener: () => undefined,
    createBuffer: ({ label, size, usage }: GPUBufferDescriptor) => ({ label, size, usage, destroy: () => undefined, ...dropped(size) }),
    queue: { writeBuffer: () => undefined },
  };
  return new Gpu(device as unknown as GPUDevice, record('plan', limits));
}

let shared = new ArrayBuffer(0);

/** What makes a buffer look mapped: memory that all of them share and nobody reads. */
function dropped(size: number): Pick<GPUBuffer, 'getMappedRange' | 'unmap'> {
  const getMappedRange = (offset = 0, bytes: number = size - offset): ArrayBuffer => {
    if (shared.byteLength < bytes) shared = new ArrayBuffer(bytes);
    return shared;
  };
  return { getMappedRange, unmap: () => undefined };
}
