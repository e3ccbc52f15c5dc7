/**
 * Copies a checked checkpoint into the buffers of its weights, a slice at a time through one block of host memory: 2b has 1.06 GB, and
 * loading it may cost the process no more than slices. Dawn keeps a copy of what is written until the device has taken it, so that a
 * wait comes before the next ones are written.
 */
import type { Gpu } from '../gpu/device.ts';
import type { Stream } from '../gpu/stream.ts';
import type { TensorSource } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import { Weights, type Fill } from './weights.ts';

/** Bytes that are read and written at once. */
const SLICE = 4 << 20;

/** Bytes that Dawn may hold for the device at once. */
const IN_FLIGHT = 32 << 20;

/**
 * Makes a model's weights and fills them. The checkpoint must have passed `checkTensors`.
 * @param bindingLimit as `Weights.allocate` takes it.
 * @param sliceBytes bytes that are read and written at once, a multiple of 8. Tests set it lower.
 * @throws as `Weights.allocate`; EngineRefused when the file ends early; EngineBroken when the device has no memory for them; EngineTimeout.
 */
export async function loadWeights(
  gpu: Gpu,
  stream: Stream,
  config: ModelConfig,
  source: TensorSource,
  bindingLimit?: number,
  sliceBytes: number = SLICE,
): Promise<Weights> {
  const weights = Weights.allocate(gpu, config, bindingLimit);
  const slice = new Uint32Array(sliceBytes / 4);
  let held = 0;
  for (const fill of weights.fills) {
    for (const { offset, words } of slicesOf(fill, source, slice)) {
      if (held + words.byteLength > IN_FLIGHT) {
        await stream.done();
        held = 0;
      }
      stream.upload(fill.buffer, words, fill.to + offset);
      held += words.byteLength;
    }
  }
  await stream.done();
  return weights;
}

interface Slice {
  /** From the fill's first byte in the buffer. */
  readonly offset: number;
  /** Valid until the next slice is asked for. */
  readonly words: Uint32Array<ArrayBuffer>;
}

function* slicesOf(fill: Fill, source: TensorSource, slice: Uint32Array<ArrayBuffer>): Generator<Slice> {
  const widen = fill.floats !== undefined && source.tensors.get(fill.tensor)!.dtype === 'BF16';
  const bytes = new Uint8Array(slice.buffer);
  for (let offset = 0; offset < fill.bytes; offset += bytes.length) {
    const count = Math.min(bytes.length, fill.bytes - offset);
    const words = slice.subarray(0, Math.ceil(count / 4));
    if (widen) {
      // Read into the upper half of the slice, and widened from its start on.
      const halves = new Uint16Array(slice.buffer, count / 2, count / 4);
      source.read(fill.tensor, bytes.subarray(count / 2, count), fill.from + offset / 2);
      // bf16 is the upper half of a float32: widening is exact.
      for (let i = 0; i < halves.length; i++) words[i] = halves[i]! << 16;
    } else {
      // A last half word is padded with zero.
      words[words.length - 1] = 0;
      source.read(fill.tensor, bytes.subarray(0, count), fill.from + offset);
    }
    yield { offset, words };
  }
}
