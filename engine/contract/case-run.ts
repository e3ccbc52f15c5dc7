/**
 * Runs one filled shape on the device, again and again from the same start: guarded buffers, poisoned outputs, everything
 * read back. It judges nothing.
 */
import type { Contents, Kernel, Launch, Shape } from '../../kernels/contract.ts';
import { EngineBroken } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Edits } from '../gpu/kernel-source.ts';
import { programsFor } from '../gpu/programs.ts';
import { Stream } from '../gpu/stream.ts';
import { GUARD_WORDS, withGuards } from './guards.ts';
import { POISON } from './written.ts';

const GUARD_BYTES = GUARD_WORDS * 4;

interface CaseBuffer {
  readonly name: string;
  readonly written: boolean;
  /** Words before a launch, guards included. */
  readonly initial: Uint32Array;
  /** Holds `initial` for a written binding, so that each launch starts from it. */
  readonly origin: GPUBuffer | undefined;
  readonly buffer: GPUBuffer;
}

/** The buffers of one shape and fill, shared by all variants. */
export class CaseRun {
  readonly #gpu: Gpu;
  readonly #kernel: Kernel;
  readonly #buffers: readonly CaseBuffer[];

  /** @throws EngineBroken when the fill's contents do not have the kernel's sizes. */
  constructor(gpu: Gpu, kernel: Kernel, shape: Shape, contents: Contents) {
    this.#gpu = gpu;
    this.#kernel = kernel;
    const sizes = kernel.sizes(shape);
    this.#buffers = kernel.bindings.map(({ name, access }) => {
      const initial = withGuards(startOf(kernel, name, access === 'read', sizes[name], contents[name]));
      const written = access === 'read_write';
      return { name, written, initial, origin: written ? this.#upload(`${name} origin`, initial) : undefined, buffer: this.#upload(name, initial) };
    });
  }

  #upload(label: string, words: Uint32Array): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = this.#gpu.device.createBuffer({ label: `${this.#kernel.name} ${label}`, size: words.byteLength, usage, mappedAtCreation: true });
    new Uint32Array(buffer.getMappedRange()).set(words);
    buffer.unmap();
    return buffer;
  }

  /** Words of a binding before every launch, guards included. */
  initial(name: string): Uint32Array {
    return this.#find(name).initial;
  }

  /**
   * Launches once from the start and reads back every written binding.
   * @param edits texts in place of the kernel's shader files.
   * @returns words by binding name, guards included.
   */
  async launch(launch: Launch, edits?: Edits): Promise<Record<string, Uint32Array>> {
    const programs = programsFor(this.#gpu);
    const program = await programs.compile(this.#kernel, launch, edits);
    if (program.kernel.name !== this.#kernel.name || program.variant !== launch.variant) {
      throw new EngineBroken(`asked for ${launch.kernel}/${launch.variant}, got the program of ${program.kernel.name}/${program.variant}`);
    }
    const stream = new Stream(this.#gpu);
    const bound: Record<string, GPUBufferBinding> = {};
    for (const { name, buffer, origin, initial } of this.#buffers) {
      if (origin) stream.copy(origin, 0, buffer, 0, initial.byteLength);
      bound[name] = { buffer, offset: GUARD_BYTES, size: initial.byteLength - GUARD_BYTES };
    }
    stream.record(programs.bind(program, launch, bound));
    const words: Record<string, Uint32Array> = {};
    for (const { name, written, buffer, initial } of this.#buffers) {
      if (written) words[name] = new Uint32Array(await stream.read(buffer, 0, initial.byteLength));
    }
    return words;
  }

  /** Reads back the bindings that no launch may write, guards included. */
  async inputs(): Promise<Record<string, Uint32Array>> {
    const stream = new Stream(this.#gpu);
    const words: Record<string, Uint32Array> = {};
    for (const { name, written, buffer, initial } of this.#buffers) {
      if (!written) words[name] = new Uint32Array(await stream.read(buffer, 0, initial.byteLength));
    }
    return words;
  }

  close(): void {
    for (const { buffer, origin } of this.#buffers) {
      buffer.destroy();
      origin?.destroy();
    }
  }

  #find(name: string): CaseBuffer {
    const found = this.#buffers.find((buffer) => buffer.name === name);
    if (!found) throw new EngineBroken(`${this.#kernel.name} has no binding "${name}"`);
    return found;
  }
}

function startOf(kernel: Kernel, name: string, input: boolean, size: number | undefined, given: Float32Array | Uint32Array | undefined): Uint32Array {
  if (size === undefined || size < 1) throw new EngineBroken(`${kernel.name}: binding "${name}" has no size for this shape`);
  if (!given && input) throw new EngineBroken(`${kernel.name}: the fill gives no contents for the input "${name}"`);
  if (!given) return new Uint32Array(size).fill(POISON);
  if (given.length !== size) throw new EngineBroken(`${kernel.name}: the fill gives ${given.length} elements for "${name}", which has ${size}`);
  return new Uint32Array(given.buffer, given.byteOffset, given.length);
}
