/**
 * Timestamps at the ends of compute passes. Only differences of *ends* are used: a pass's begin is stamped at the top of the pipe and
 * may precede the end of the pass before it.
 */
import { EngineBroken } from '../errors.ts';
import type { Gpu } from './device.ts';
import type { PassStamps, Stream } from './stream.ts';

/** WebGPU allows no larger query set. */
const MOST_STAMPS = 4096;

/** A query set, what each stamp of it belongs to, and where the stamps are read back. */
export class Stamps implements PassStamps {
  readonly #labels: string[] = [];
  readonly #set: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  readonly #capacity: number;

  /** @param capacity the most stamps between two `read`s. @throws EngineBroken above MOST_STAMPS. */
  constructor(gpu: Gpu, capacity: number) {
    if (capacity > MOST_STAMPS) throw new EngineBroken(`${capacity} timestamps were asked for, and a query set holds ${MOST_STAMPS}`);
    this.#capacity = capacity;
    this.#set = gpu.device.createQuerySet({ label: 'pass ends', type: 'timestamp', count: capacity });
    this.#resolved = gpu.device.createBuffer({ label: 'pass ends', size: capacity * 8, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
  }

  /** The timestamp write of the next pass. @throws Error when all stamps are taken. */
  next(label: string): GPUComputePassTimestampWrites {
    if (this.#labels.length === this.#capacity) throw new Error(`all ${this.#capacity} timestamps are taken; read them first`);
    this.#labels.push(label);
    return { querySet: this.#set, endOfPassWriteIndex: this.#labels.length - 1 };
  }

  /** Submits what the stream holds and gives the stamps taken since the last read, in nanoseconds, in the order of passes. */
  async read(stream: Stream): Promise<{ label: string; ns: bigint }[]> {
    const labels = this.#labels.splice(0);
    if (labels.length === 0) return [];
    stream.resolve(this.#set, labels.length, this.#resolved);
    const ns = new BigUint64Array(await stream.read(this.#resolved, 0, labels.length * 8, 'timestamp'));
    return labels.map((label, index) => ({ label, ns: ns[index]! }));
  }

  destroy(): void {
    this.#set.destroy();
    this.#resolved.destroy();
  }
}

/** Whether the device stamps pass ends at all. */
export function hasTimestamps(gpu: Gpu): boolean {
  return gpu.device.features.has('timestamp-query');
}
