/**
 * One launch with nothing kept: allocate, dispatch once, read everything back. For contracts and tests, where each case
 * wants fresh buffers; decode binds its buffers once instead.
 */
import type { BindingSpec, Kernel, Shape } from '../../kernels/contract.ts';
import { EngineBroken } from '../errors.ts';
import type { Gpu } from './device.ts';
import type { Edits } from './kernel-source.ts';
import { Programs } from './programs.ts';
import { Stream } from './stream.ts';

/** Bits that fill an output before the launch: a quiet NaN that no kernel produces. A word that still holds it was not written. */
export const POISON = 0x7fe5a5a5;

/** Bits that fill the guard words before and after a binding. */
export const GUARD = 0x5ca1ab1e;

/** 256 is the largest minStorageBufferOffsetAlignment that WebGPU allows, so a binding may start there on every device. */
const GUARD_BYTES = 256;

export type TypedArray = Float32Array | Uint32Array;
export type Arrays = Readonly<Record<string, TypedArray>>;

export interface RunLaunchOptions {
  /** Puts 64 guard words on each side of every binding and checks them after the launch. */
  readonly guards?: boolean;
  /** Texts in place of the kernel's shader files (planted faults). */
  readonly edits?: Edits;
}

/** The launch wrote outside a binding. `outputs` is what it left in the bindings. */
export class GuardViolation extends Error {
  override readonly name = 'GuardViolation';
  readonly outputs: Record<string, TypedArray>;
  constructor(message: string, outputs: Record<string, TypedArray>) {
    super(message);
    this.outputs = outputs;
  }
}

const programsOf = new WeakMap<Gpu, Programs>();

/** The program cache that launches on one device share. */
export function programsFor(gpu: Gpu): Programs {
  let programs = programsOf.get(gpu);
  if (!programs) programsOf.set(gpu, (programs = new Programs(gpu)));
  return programs;
}

/**
 * Runs one launch of a kernel.
 * @param inputs contents by binding name; every `read` binding must be there. A `read_write` binding without contents starts as POISON words.
 * @returns every binding's contents after the launch, inputs included, so that the caller can check that inputs did not change.
 * @throws LaunchRefused for an unserved shape; GuardViolation; EngineBroken when a size is wrong, the WGSL is invalid or the device fails.
 */
export async function runLaunch(
  gpu: Gpu,
  kernel: Kernel,
  shape: Shape,
  variant: string | undefined,
  inputs: Arrays,
  options: RunLaunchOptions = {},
): Promise<Record<string, TypedArray>> {
  const launch = kernel.launch(shape, variant);
  const sizes = kernel.sizes(shape);
  const programs = programsFor(gpu);
  const program = await programs.compile(kernel, launch, options.edits);
  const margin = options.guards ? GUARD_BYTES : 0;
  const stream = new Stream(gpu);
  const buffers: { spec: BindingSpec; buffer: GPUBuffer; bytes: number }[] = [];
  const bound: Record<string, GPUBufferBinding> = {};
  for (const spec of kernel.bindings) {
    const words = initialWords(kernel, spec, sizes[spec.name], inputs[spec.name], margin / 4);
    const buffer = gpu.device.createBuffer({
      label: `${kernel.name} ${spec.name}`,
      size: words.byteLength,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC,
      mappedAtCreation: true,
    });
    new Uint32Array(buffer.getMappedRange()).set(words);
    buffer.unmap();
    const bytes = words.byteLength - 2 * margin;
    buffers.push({ spec, buffer, bytes });
    bound[spec.name] = { buffer, offset: margin, size: bytes };
  }
  return stream.holding(
    buffers.map(({ buffer }) => buffer),
    async () => {
      stream.record(programs.bind(program, launch, bound));
      const outputs: Record<string, TypedArray> = {};
      let violation = '';
      for (const { spec, buffer, bytes } of buffers) {
        const data = await stream.read(buffer, 0, bytes + 2 * margin);
        outputs[spec.name] = spec.type === 'f32' ? new Float32Array(data, margin, bytes / 4) : new Uint32Array(data, margin, bytes / 4);
        violation ||= brokenGuard(spec.name, new Uint32Array(data), margin / 4);
      }
      if (violation !== '') throw new GuardViolation(`${kernel.name} (${launch.variant}): ${violation}`, outputs);
      return outputs;
    },
  );
}

function initialWords(kernel: Kernel, spec: BindingSpec, size: number | undefined, input: TypedArray | undefined, marginWords: number): Uint32Array {
  const where = `${kernel.name}: binding "${spec.name}"`;
  if (size === undefined || size < 1) throw new EngineBroken(`${where} has no size for this shape`);
  if (spec.access === 'read' && !input) throw new EngineBroken(`${where} is an input and was given no contents`);
  if (input && input.length !== size) throw new EngineBroken(`${where} takes ${size} elements and was given ${input.length}`);
  const words = new Uint32Array(size + 2 * marginWords).fill(GUARD);
  if (input) words.set(new Uint32Array(input.buffer, input.byteOffset, input.length), marginWords);
  else words.fill(POISON, marginWords, marginWords + size);
  return words;
}

function brokenGuard(name: string, words: Uint32Array, marginWords: number): string {
  for (let i = 0; i < marginWords; i++) {
    if (words[i] !== GUARD) return `wrote ${marginWords - i} words before binding "${name}"`;
    const after = words.length - marginWords + i;
    if (words[after] !== GUARD) return `wrote ${i + 1} words past the end of binding "${name}"`;
  }
  return '';
}
