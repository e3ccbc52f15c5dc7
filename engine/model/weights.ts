/**
 * Puts a checked checkpoint's weights into GPU buffers: one buffer a tensor, several where it is larger than a binding, and one for all
 * the matrices of one input.
 */
import { EngineBroken } from '../errors.ts';
import type { BufferRef } from '../gpu/buffer-ref.ts';
import type { Gpu } from '../gpu/device.ts';
import type { TensorSource } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import { jointLayout, jointSpecs, type JointLayout } from './joint.ts';
import { planSplits, type ColumnRange } from './split.ts';
import { tensorsOf, vectorPairs, weightSpecs, type QuantisedSpec, type VectorSpec } from './tensors.ts';

/** A 4-bit matrix W [n, k] in parts of its columns, in order; nearly always one. */
export interface QuantisedWeight {
  readonly n: number;
  readonly k: number;
  readonly parts: readonly [QuantisedPart, ...QuantisedPart[]];
}

/** Columns of a matrix as they lie in the file; scales and biases are bf16 pairs, padded to whole words. */
export interface QuantisedPart extends ColumnRange {
  readonly codes: BufferRef;
  readonly scales: BufferRef;
  readonly biases: BufferRef;
}

/** Several matrices in one, by rows (joint.ts). */
export interface JointWeight extends JointLayout {
  readonly codes: GPUBuffer;
  readonly scales: GPUBuffer;
  readonly biases: GPUBuffer;
}

/** Where a graph finds its weights. */
export type WeightTable = Pick<Weights, 'quantised' | 'joint' | 'vector'>;

export class Weights {
  readonly #quantised = new Map<string, QuantisedWeight>();
  readonly #joint = new Map<string, JointWeight>();
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
    const quantised = new Map(specs.flatMap((spec) => (spec.form === 'quantised' ? [[spec.name, spec]] : [])));
    for (const { name, members } of jointSpecs(config))
      weights.#loadJoint(
        gpu,
        checkpoint,
        name,
        members.map((member) => quantised.get(member)!),
        bindingLimit,
      );
    for (const spec of specs) {
      if (spec.form === 'vector') weights.#vectors.set(spec.name, loadVector(gpu, checkpoint, spec));
      else if (!weights.#quantised.has(spec.name)) weights.#quantised.set(spec.name, loadQuantised(gpu, checkpoint, spec, splits.get(spec.name) ?? []));
    }
    for (const pair of vectorPairs(config)) {
      weights.#vectors.set(pair.name, loadVectors(gpu, checkpoint, pair.name, pair.members));
    }
    gpu.check();
    return weights;
  }

  /** One buffer for all members, where it fits one binding; else each is loaded alone. */
  #loadJoint(gpu: Gpu, checkpoint: TensorSource, name: string, members: readonly QuantisedSpec[], bindingLimit: number): void {
    const layout = jointLayout(members);
    if ((layout.rows * layout.k) / 2 > bindingLimit) return;
    const [codes, scales, biases] = ['weight', 'scales', 'biases'].map((tensor) => {
      const bytesOfRow = tensor === 'weight' ? layout.k / 2 : layout.k / 32;
      return filled(gpu, `${name}.${tensor}`, layout.rows * bytesOfRow, (target) => {
        for (const spec of members) {
          const start = layout.starts.get(spec.name)! * bytesOfRow;
          checkpoint.read(`language_model.${spec.name}.${tensor}`, target.subarray(start, start + spec.n * bytesOfRow));
        }
      });
    }) as [GPUBuffer, GPUBuffer, GPUBuffer];
    this.#joint.set(name, { ...layout, codes, scales, biases });
    for (const spec of members) {
      const row = layout.starts.get(spec.name)!;
      const at = (buffer: GPUBuffer, bytesOfRow: number): BufferRef => ({ buffer, offset: row * bytesOfRow });
      const part = { start: 0, n: spec.n, codes: at(codes, spec.k / 2), scales: at(scales, spec.k / 32), biases: at(biases, spec.k / 32) };
      this.#quantised.set(spec.name, { n: spec.n, k: spec.k, parts: [part] });
    }
  }

  /** The matrices of one input as one; undefined where that is larger than a binding. */
  joint(name: string): JointWeight | undefined {
    return this.#joint.get(name);
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
  return loadVectors(gpu, checkpoint, tensorsOf(spec)[0]!.name, [spec.name]);
}

/** Vectors one after the other, as float32. */
function loadVectors(gpu: Gpu, checkpoint: TensorSource, label: string, names: readonly string[]): GPUBuffer {
  const parts = names.map((name) => vectorBytes(checkpoint, `language_model.${name}`));
  const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
  return filled(gpu, label, bytes, (target) => {
    let at = 0;
    for (const part of parts) {
      target.set(part, at);
      at += part.byteLength;
    }
  });
}

/** A tensor's elements as the bytes of float32s. */
function vectorBytes(checkpoint: TensorSource, name: string): Uint8Array {
  const tensor = checkpoint.tensors.get(name)!;
  const bytes = new Uint8Array(tensor.bytes);
  checkpoint.read(name, bytes);
  if (tensor.dtype === 'F32') return bytes;
  // bf16 is the upper half of a float32: widening is exact.
  return new Uint8Array(Uint32Array.from(new Uint16Array(bytes.buffer), (half) => half << 16).buffer);
}
