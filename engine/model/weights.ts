/** Puts a checked checkpoint's weights into GPU buffers, one buffer a tensor. */
import { EngineBroken, EngineRefused } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import { tensorsOf, weightSpecs, type QuantisedSpec, type VectorSpec } from './tensors.ts';

/** A 4-bit matrix W [n, k] as it lies in the file; scales and biases are bf16 pairs, padded to whole words. */
export interface QuantisedWeight {
  readonly n: number;
  readonly k: number;
  readonly codes: GPUBuffer;
  readonly scales: GPUBuffer;
  readonly biases: GPUBuffer;
}

export class Weights {
  readonly #quantised = new Map<string, QuantisedWeight>();
  readonly #vectors = new Map<string, GPUBuffer>();

  /**
   * Uploads every weight of the model. The checkpoint must have passed `checkTensors`.
   * @throws EngineRefused when a tensor does not fit one binding of this device.
   */
  static load(gpu: Gpu, config: ModelConfig, checkpoint: Checkpoint): Weights {
    const weights = new Weights();
    for (const spec of weightSpecs(config)) {
      if (spec.form === 'vector') weights.#vectors.set(spec.name, loadVector(gpu, checkpoint, spec));
      else weights.#quantised.set(spec.name, loadQuantised(gpu, checkpoint, spec));
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

function filled(gpu: Gpu, label: string, bytes: number, fill: (target: Uint8Array) => void): GPUBuffer {
  const size = Math.ceil(bytes / 4) * 4;
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
  if (size > Math.min(maxStorageBufferBindingSize, maxBufferSize)) {
    throw new EngineRefused(
      `tensor ${label} has ${size} bytes, and ${gpu.adapter.name} binds at most ${Math.min(maxStorageBufferBindingSize, maxBufferSize)}`,
      'use another adapter (fleet engine devices) or a smaller model',
    );
  }
  const buffer = gpu.device.createBuffer({ label, size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC, mappedAtCreation: true });
  // New memory is zero, so a padded half word is zero too.
  fill(new Uint8Array(buffer.getMappedRange(), 0, bytes));
  buffer.unmap();
  return buffer;
}

function loadQuantised(gpu: Gpu, checkpoint: Checkpoint, spec: QuantisedSpec): QuantisedWeight {
  const [codes, scales, biases] = tensorsOf(spec).map(({ name }) =>
    filled(gpu, name, checkpoint.tensors.get(name)!.bytes, (target) => checkpoint.read(name, target)),
  );
  return { n: spec.n, k: spec.k, codes: codes!, scales: scales!, biases: biases! };
}

function loadVector(gpu: Gpu, checkpoint: Checkpoint, spec: VectorSpec): GPUBuffer {
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
