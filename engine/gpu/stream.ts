/**
 * Records dispatches and copies, and submits them. Dispatches between two copies share one compute pass. `submit` never
 * throws in WebGPU and an invalid command buffer is silently dropped, so every submit is wrapped in an error scope whose
 * outcome each read waits for: what `read` returns was computed.
 */
import { EngineBroken } from '../errors.ts';
import type { Gpu } from './device.ts';
import type { Dispatch } from './programs.ts';

/** Why a command buffer was submitted. Counted, so that a per-token budget can be checked exactly. */
export type SubmitTrigger = 'token' | 'prompt' | 'readback' | 'upload' | 'batch-cap' | 'timestamp';

/** A pass longer than this is submitted as it is (`batch-cap`), so that a long prefill cannot trip a driver's watchdog. */
const BATCH_CAP = 2048;

/** Gives each pass the timestamp that its end is written to. */
export interface PassStamps {
  next(label: string, boundBytes?: number): GPUComputePassTimestampWrites;
}

export interface StreamCounters {
  readonly submits: Record<string, number>;
  readonly dispatches: Record<string, number>;
  bytesReadBack: number;
}

export class Stream {
  readonly #gpu: Gpu;
  readonly #scopes = new Set<Promise<void>>();
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #recorded = 0;
  #stamps: PassStamps | undefined;
  #counters: StreamCounters = { submits: {}, dispatches: {}, bytesReadBack: 0 };

  constructor(gpu: Gpu) {
    this.#gpu = gpu;
  }

  /** Counts since the stream was made or `resetCounters` was called. */
  get counters(): StreamCounters {
    return this.#counters;
  }

  resetCounters(): void {
    this.#counters = { submits: {}, dispatches: {}, bytesReadBack: 0 };
  }

  /** From here on each dispatch is a pass of its own, whose end is stamped as `kernel/variant workgroups`; undefined: no longer. */
  stampEach(stamps: PassStamps | undefined): void {
    this.#endPass();
    this.#stamps = stamps;
  }

  /** Ends the open pass, and begins one whose end is stamped as `label`. */
  beginStamped(stamps: PassStamps, label: string, boundBytes?: number): void {
    this.#endPass();
    this.#pass = this.#encode().beginComputePass({ timestampWrites: stamps.next(label, boundBytes) });
  }

  /** Records the copy of the first `count` stamps of a query set, ending the open pass. */
  resolve(set: GPUQuerySet, count: number, to: GPUBuffer): void {
    this.#endPass();
    this.#encode().resolveQuerySet(set, 0, count, to, 0);
  }

  /** Records one dispatch into the open pass. */
  record(dispatch: Dispatch): void {
    if (this.#stamps) this.beginStamped(this.#stamps, `${dispatch.kernel}/${dispatch.variant} ${dispatch.workgroups.join('×')}`, dispatch.boundBytes);
    this.#pass ??= this.#encode().beginComputePass();
    this.#pass.setPipeline(dispatch.pipeline);
    this.#pass.setBindGroup(0, dispatch.bindGroup);
    this.#pass.dispatchWorkgroups(...dispatch.workgroups);
    this.#counters.dispatches[dispatch.kernel] = (this.#counters.dispatches[dispatch.kernel] ?? 0) + 1;
    if (++this.#recorded >= BATCH_CAP) this.submit('batch-cap');
  }

  /** Records a copy of `bytes` bytes (multiples of 4), ending the open pass. */
  copy(from: GPUBuffer, fromOffset: number, to: GPUBuffer, toOffset: number, bytes: number): void {
    this.#endPass();
    this.#encode().copyBufferToBuffer(from, fromOffset, to, toOffset, bytes);
  }

  /** Records a fill of a whole buffer with zero bytes. */
  clear(buffer: GPUBuffer): void {
    this.#endPass();
    this.#encode().clearBuffer(buffer);
  }

  /** Writes host data, ordered after every earlier submit and before every later one. */
  upload(buffer: GPUBuffer, data: Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>, byteOffset = 0): void {
    this.#gpu.check();
    this.#scoped(() => this.#gpu.device.queue.writeBuffer(buffer, byteOffset, data));
  }

  /** Submits what was recorded; nothing recorded, nothing submitted. @throws the device's failure, once it has failed: nothing is submitted then. */
  submit(trigger: SubmitTrigger): void {
    this.#gpu.check();
    const encoder = this.#encoder;
    if (!encoder) return;
    this.#endPass();
    this.#encoder = undefined;
    this.#gpu.pending.add(this.#recorded);
    this.#recorded = 0;
    this.#counters.submits[trigger] = (this.#counters.submits[trigger] ?? 0) + 1;
    this.#scoped(() => this.#gpu.device.queue.submit([encoder.finish()]));
  }

  /** Drops what was recorded and not submitted. Before a buffer is freed that it may name: submitted afterwards, it would fail all with it. */
  discard(): void {
    this.#pass = undefined;
    this.#encoder = undefined;
    this.#stamps = undefined;
    this.#recorded = 0;
  }

  /** Does work with buffers of its own, and frees them. Work that fails leaves nothing recorded that names them. */
  async holding<T>(buffers: readonly GPUBuffer[], work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.discard();
      throw error;
    } finally {
      for (const buffer of buffers) buffer.destroy();
    }
  }

  /**
   * Submits, counted as `trigger`, and reads `bytes` bytes of a buffer back.
   * @throws EngineBroken when any earlier work of this stream was invalid or the device was lost; EngineTimeout.
   */
  async read(buffer: GPUBuffer, byteOffset: number, bytes: number, trigger: SubmitTrigger = 'readback'): Promise<ArrayBuffer> {
    const staging = this.#staging(bytes);
    return this.holding([staging], () => {
      this.copy(buffer, byteOffset, staging, 0, bytes);
      this.submit(trigger);
      return this.map(staging, bytes);
    });
  }

  /** @throws EngineBroken when there is no memory for it; what was recorded is dropped, since its caller will free buffers. */
  #staging(bytes: number): GPUBuffer {
    try {
      return this.#gpu.device.createBuffer({ label: 'readback', size: bytes, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    } catch (cause) {
      this.discard();
      throw new EngineBroken(`a buffer of ${bytes} bytes to read back into cannot be made on ${this.#gpu.adapter.name}: ${String(cause)}`, { cause });
    }
  }

  /** Maps a staging buffer that earlier submits filled, and returns a copy of its bytes. */
  async map(staging: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    const mapped = staging.mapAsync(GPUMapMode.READ, 0, bytes).catch((cause: unknown) => {
      this.#gpu.check();
      throw new EngineBroken(`reading back failed on ${this.#gpu.adapter.name}: ${String(cause)}`, { cause });
    });
    const { mark } = this.#gpu.pending;
    await this.#gpu.wait(mapped, 'a readback');
    this.#gpu.pending.reached(mark);
    await this.#settle();
    const copy = staging.getMappedRange(0, bytes).slice(0);
    staging.unmap();
    this.#counters.bytesReadBack += bytes;
    return copy;
  }

  /** Waits until all submitted work is done. @throws as `read`. */
  async done(): Promise<void> {
    const { mark } = this.#gpu.pending;
    await this.#gpu.wait(this.#gpu.device.queue.onSubmittedWorkDone(), 'submitted work');
    this.#gpu.pending.reached(mark);
    await this.#settle();
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#scopes);
    this.#gpu.check();
  }

  #scoped(work: () => void): void {
    const { device } = this.#gpu;
    device.pushErrorScope('validation');
    work();
    const scope = device.popErrorScope().then(
      (error) => {
        if (error) this.#gpu.fail(`invalid work on ${this.#gpu.adapter.name}: ${error.message}`);
        this.#scopes.delete(scope);
      },
      (cause: unknown) => {
        this.#gpu.fail(`an error scope was lost on ${this.#gpu.adapter.name}: ${String(cause)}`);
        this.#scopes.delete(scope);
      },
    );
    this.#scopes.add(scope);
  }

  #encode(): GPUCommandEncoder {
    this.#gpu.check();
    return (this.#encoder ??= this.#gpu.device.createCommandEncoder());
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }
}
