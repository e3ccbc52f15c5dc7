/** Puts a checked checkpoint's weights into GPU buffers: one buffer a tensor, several where it is larger than a binding. */
import { EngineBroken } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { TensorSource } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import { planSplits, type ColumnRange } from './split.ts';
import { tensorsOf, weightSpecs, type QuantisedSpec, type VectorSpec } from './tensors.ts';

/** A 4-bit matrix W [n, k] in parts of its columns, in order; nearly always one. */
export interface QuantisedWeight {
  readonly n: number;
  readonly k: number;
  readonly parts: readonly [QuantisedPart, ...QuantisedPart[]];
}

/** Columns of a matrix as they lie in the file; scales and biases are bf16 pairs, padded to whole words. */
export interface QuantisedPart extends ColumnRange {
  readonly codes: GPUBuffer;
  readonly scales: GPUBuffer;
  readonly biases: GPUBuffer;
}

/** Where a graph finds its weights. */
export type WeightTable = Pick<Weights, 'quantised' | 'vector'>;

export class Weights {
  readonly #quantised = new Map<string, QuantisedWeight>();
  readonly #vectors = new Map<string, GPUBuffer>();

  /**
   * Uploads every weight of the model. The checkpoint must have passed `checkTensors`.
   * @param bindingLimit the most bytes to put into one binding; absent: what the device takes. Tests set it lower.
   * @throws EngineRefused, before any GPU memory is taken, when a tensor does not fit this device's bindings, in parts neither.
   */
  static load(gpu: Gpu, config: ModelConfig, checkpoint: TensorSource, bindingLimit: number = largestBinding(gpu)): Weights {
    const specs = weightSpecs(config);
    const splits = planSplits(specs, bindingLimit, gpu.adapter.name);
    const weights = new Weights();
    for (const spec of specs) {
      if (spec.form === 'vector') weights.#vectors.set(spec.name, loadVector(gpu, checkpoint, spec));
      else weights.#quantised.set(spec.name, loadQuantised(gpu, checkpoint, spec, splits.get(spec.name) ?? []));
    }
    gpu.check();
    return weights;
  }

  /** The matrix `name`. */
  quantised(name: string): QuantisedWeight {
    const weight = this.#quantised.get(name);
    if (!weight) throw new EngineBroken(`no matrix ${name} was loaded`);
    return weight;
  }

  /** The float32 tensor `name`. */
  vector(name: string): GPUBuffer {
    const buffer = this.#vectors.get(name);
    if (!buffer) throw new EngineBroken(`no vector ${name} was loaded`);
    return buffer;
  }
}

function largestBinding(gpu: Gpu): number {
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
  return Math.min(maxStorageBufferBindingSize, maxBufferSize);
}

function filled(gpu: Gpu, label: string, bytes: number, fill: (target: Uint8Array) => void): GPUBuffer {
  const size = Math.ceil(bytes / 4) * 4;
  const buffer = gpu.device.createBuffer({ label, size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC, mappedAtCreation: true });
  // New memory is zero, so a padded half word is zero too.
  fill(new Uint8Array(buffer.getMappedRange(), 0, bytes));
  buffer.unmap();
  return buffer;
}

function loadQuantised(gpu: Gpu, checkpoint: TensorSource, spec: QuantisedSpec, ranges: readonly ColumnRange[]): QuantisedWeight {
  const [codes, scales, biases] = tensorsOf(spec).map(({ name }) => name) as [string, string, string];
  const [first, ...others] = ranges.map(({ start, n }): QuantisedPart => {
    const columns = (name: string): GPUBuffer => {
      const bytesOfColumn = checkpoint.tensors.get(name)!.bytes / spec.n;
      const label = n === spec.n ? name : `${name} [${start}, ${start + n})`;
      return filled(gpu, label, n * bytesOfColumn, (target) => checkpoint.read(name, target, start * bytesOfColumn));
    };
    return { start, n, codes: columns(codes), scales: columns(scales), biases: columns(biases) };
  });
  if (!first) throw new EngineBroken(`the matrix ${spec.name} has no parts`);
  return { n: spec.n, k: spec.k, parts: [first, ...others] };
}

function loadVector(gpu: Gpu, checkpoint: TensorSource, spec: VectorSpec): GPUBuffer {
  const { name } = tensorsOf(spec)[0]!;
  const tensor = checkpoint.tensors.get(name)!;
  if (tensor.dtype === 'F32') return filled(gpu, name, tensor.bytes, (target) => checkpoint.read(name, target));
  const halves = new Uint16Array(tensor.bytes / 2);
  checkpoint.read(name, new Uint8Array(halves.buffer));
  return filled(gpu, name, tensor.bytes * 2, (target) => {
    // bf16 is the upper half of a float32: widening is exact.
    const words = new Uint32Array(target.buffer, target.byteOffset, halves.length);
    for (const [i, half] of halves.entries()) words[i] = half << 16;
  });
}
