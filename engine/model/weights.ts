/**
 * A model's weights in GPU buffers: one buffer a tensor, several where it is larger than a binding, and one for all the matrices of one
 * input. Making the buffers needs a config alone; what is to be copied into them is a list (`Fill`), which fill-weights.ts works off.
 */
import { EngineBroken } from '../errors.ts';
import type { BufferRef } from '../gpu/buffer-ref.ts';
import type { Gpu } from '../gpu/device.ts';
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

/** Bytes of a tensor that belong into a buffer. */
export interface Fill {
  readonly tensor: string;
  /** First byte in the tensor, as the file has it. */
  readonly from: number;
  readonly buffer: GPUBuffer;
  /** First byte in the buffer: a multiple of 4. */
  readonly to: number;
  /** Elements as float32, whatever the tensor's dtype; absent: `bytes` bytes as they are. */
  readonly floats?: number;
  readonly bytes: number;
}

/** Where a graph finds its weights. */
export type WeightTable = Pick<Weights, 'quantised' | 'joint' | 'vector'>;

const TENSORS = ['weight', 'scales', 'biases'] as const;

/** Bytes of a row of a matrix's tensor: 4-bit codes, or a bf16 a group of 64. */
function rowBytes(tensor: (typeof TENSORS)[number], k: number): number {
  return tensor === 'weight' ? k / 2 : k / 32;
}

export class Weights {
  /** What has to be copied before the weights are a model's. */
  readonly fills: Fill[] = [];
  readonly #gpu: Gpu;
  readonly #quantised = new Map<string, QuantisedWeight>();
  readonly #joint = new Map<string, JointWeight>();
  readonly #vectors = new Map<string, GPUBuffer>();

  private constructor(gpu: Gpu) {
    this.#gpu = gpu;
  }

  /**
   * Makes the buffers of every weight of a model, all zero.
   * @param bindingLimit the most bytes to put into one binding; absent: what the device takes. Tests set it lower.
   * @throws EngineRefused, before any GPU memory is taken, when a tensor does not fit this device's bindings, in parts neither.
   */
  static allocate(gpu: Gpu, config: ModelConfig, bindingLimit: number = largestBinding(gpu)): Weights {
    const specs = weightSpecs(config);
    const splits = planSplits(specs, bindingLimit, gpu.adapter.name);
    const weights = new Weights(gpu);
    const quantised = new Map(specs.flatMap((spec) => (spec.form === 'quantised' ? [[spec.name, spec]] : [])));
    const vectors = new Map(specs.flatMap((spec) => (spec.form === 'vector' ? [[spec.name, spec]] : [])));
    for (const { name, members } of jointSpecs(config)) {
      const matrices = members.map((member) => quantised.get(member)!);
      weights.#addJoint(name, matrices, bindingLimit);
    }
    for (const spec of specs) {
      if (spec.form === 'vector') weights.#addVectors(spec.name, [spec]);
      else if (!weights.#quantised.has(spec.name)) weights.#addQuantised(spec, splits.get(spec.name) ?? []);
    }
    for (const { name, members } of vectorPairs(config)) {
      const parts = members.map((member) => vectors.get(member)!);
      weights.#addVectors(name, parts);
    }
    gpu.check();
    return weights;
  }

  /** One buffer for all members, where it fits one binding; else each is allocated alone. */
  #addJoint(name: string, members: readonly QuantisedSpec[], bindingLimit: number): void {
    const layout = jointLayout(members);
    if ((layout.rows * layout.k) / 2 > bindingLimit) return;
    const [codes, scales, biases] = TENSORS.map((tensor) => this.#buffer(`${name}.${tensor}`, layout.rows * rowBytes(tensor, layout.k))) as [
      GPUBuffer,
      GPUBuffer,
      GPUBuffer,
    ];
    this.#joint.set(name, { ...layout, codes, scales, biases });
    for (const spec of members) {
      const row = layout.starts.get(spec.name)!;
      const place = (tensor: (typeof TENSORS)[number], buffer: GPUBuffer): BufferRef => {
        const bytes = rowBytes(tensor, spec.k);
        this.fills.push({ tensor: `language_model.${spec.name}.${tensor}`, from: 0, buffer, to: row * bytes, bytes: spec.n * bytes });
        return { buffer, offset: row * bytes };
      };
      const part = { start: 0, n: spec.n, codes: place('weight', codes), scales: place('scales', scales), biases: place('biases', biases) };
      this.#quantised.set(spec.name, { n: spec.n, k: spec.k, parts: [part] });
    }
  }

  #addQuantised(spec: QuantisedSpec, ranges: readonly ColumnRange[]): void {
    const [first, ...others] = ranges.map(({ start, n }): QuantisedPart => {
      const columns = (tensor: (typeof TENSORS)[number]): GPUBuffer => {
        const bytes = rowBytes(tensor, spec.k);
        const name = `language_model.${spec.name}.${tensor}`;
        const buffer = this.#buffer(n === spec.n ? name : `${name} [${start}, ${start + n})`, n * bytes);
        this.fills.push({ tensor: name, from: start * bytes, buffer, to: 0, bytes: n * bytes });
        return buffer;
      };
      return { start, n, codes: columns('weight'), scales: columns('scales'), biases: columns('biases') };
    });
    if (!first) throw new EngineBroken(`the matrix ${spec.name} has no parts`);
    this.#quantised.set(spec.name, { n: spec.n, k: spec.k, parts: [first, ...others] });
  }

  /** Vectors one after the other, as float32. */
  #addVectors(name: string, members: readonly VectorSpec[]): void {
    const parts = members.map((spec) => ({ tensor: tensorsOf(spec)[0]!.name, floats: spec.shape.reduce((product, extent) => product * extent, 1) }));
    const label = members.length === 1 ? parts[0]!.tensor : name;
    const buffer = this.#buffer(
      label,
      parts.reduce((sum, { floats }) => sum + floats * 4, 0),
    );
    let to = 0;
    for (const { tensor, floats } of parts) {
      this.fills.push({ tensor, from: 0, buffer, to, floats, bytes: floats * 4 });
      to += floats * 4;
    }
    this.#vectors.set(name, buffer);
  }

  #buffer(label: string, bytes: number): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    return this.#gpu.device.createBuffer({ label, size: Math.ceil(bytes / 4) * 4, usage });
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
