/**
 * Timestamps at the ends of compute passes. Only differences of *ends* are used: a pass's begin is stamped at the top of the pipe and
 * may precede the end of the pass before it.
 */
import type { Gpu } from './device.ts';
import type { PassStamps, Stream } from './stream.ts';

/** WebGPU allows no larger query set. */
const SET_STAMPS = 4096;

/** The end of a pass. */
export interface Stamp {
  readonly label: string;
  /** Bytes that the pass's one dispatch binds; 0 for another pass. */
  readonly boundBytes: number;
  readonly ns: bigint;
}

interface StampSet {
  readonly set: GPUQuerySet;
  readonly resolved: GPUBuffer;
}

/** Query sets, as many as are needed, and what each stamp belongs to. */
export class Stamps implements PassStamps {
  readonly #gpu: Gpu;
  readonly #perSet: number;
  readonly #taken: { label: string; boundBytes: number }[] = [];
  readonly #sets: StampSet[] = [];

  /** @param perSet stamps of one query set: as many as are usually taken between two reads. */
  constructor(gpu: Gpu, perSet: number = SET_STAMPS) {
    this.#gpu = gpu;
    this.#perSet = Math.min(perSet, SET_STAMPS);
  }

  /** The timestamp write of the next pass. */
  next(label: string, boundBytes = 0): GPUComputePassTimestampWrites {
    const index = this.#taken.push({ label, boundBytes }) - 1;
    const { set } = (this.#sets[Math.floor(index / this.#perSet)] ??= this.#makeSet());
    return { querySet: set, endOfPassWriteIndex: index % this.#perSet };
  }

  #makeSet(): StampSet {
    const { device } = this.#gpu;
    const set = device.createQuerySet({ label: 'pass ends', type: 'timestamp', count: this.#perSet });
    const resolved = device.createBuffer({ label: 'pass ends', size: this.#perSet * 8, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
    return { set, resolved };
  }

  /** Submits what the stream holds and gives the stamps taken since the last read, in nanoseconds, in the order of passes. */
  async read(stream: Stream): Promise<Stamp[]> {
    const taken = this.#taken.splice(0);
    const counts = this.#sets.map((_, index) => Math.max(0, Math.min(this.#perSet, taken.length - index * this.#perSet)));
    for (const [index, { set, resolved }] of this.#sets.entries()) if (counts[index]! > 0) stream.resolve(set, counts[index]!, resolved);
    const ns: bigint[] = [];
    for (const [index, { resolved }] of this.#sets.entries()) {
      if (counts[index]! > 0) ns.push(...new BigUint64Array(await stream.read(resolved, 0, counts[index]! * 8, 'timestamp')));
    }
    return taken.map((pass, index) => ({ ...pass, ns: ns[index]! }));
  }

  destroy(): void {
    for (const { set, resolved } of this.#sets) {
      set.destroy();
      resolved.destroy();
    }
  }
}

/** Whether the device stamps pass ends at all. */
export function hasTimestamps(gpu: Gpu): boolean {
  return gpu.device.features.has('timestamp-query');
}
