/**
 * Weights of a config without a checkpoint: buffers of the right sizes that hold nothing. For what does not ask what a model computes:
 * its plan, and what it costs the host.
 */
import { EngineBroken } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { TensorSource } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import type { TensorEntry } from './safetensors.ts';
import { tensorsOf, weightSpecs } from './tensors.ts';
import { Weights, type WeightTable } from './weights.ts';

/** Every tensor of a config, as a converted checkpoint has it; reading one leaves the target as it is. */
export function blankTensors(config: ModelConfig): TensorSource {
  const entries = weightSpecs(config)
    .flatMap(tensorsOf)
    .map(({ name, dtypes, shape }): [string, TensorEntry] => {
      const dtype = dtypes[0]!;
      const elements = shape.reduce((product, extent) => product * extent, 1);
      return [name, { name, dtype, shape, start: 0, bytes: elements * (dtype === 'BF16' ? 2 : 4) }];
    });
  return { tensors: new Map(entries), read: () => undefined };
}

/**
 * Blank weights in which layer i has the buffers of layer i mod `period`: 2b's own would not fit a null device, whose memory ends near
 * 500 MiB.
 * @throws EngineBroken when layers that would share buffers are of two types.
 */
export function blankWeights(gpu: Gpu, config: ModelConfig, period: number = config.layerTypes.length): WeightTable {
  if (config.layerTypes.some((type, layer) => type !== config.layerTypes[layer % period])) throw new EngineBroken(`layers do not repeat with period ${period}`);
  const few = { ...config, layerTypes: config.layerTypes.slice(0, period) };
  const weights = Weights.load(gpu, few, blankTensors(few));
  const lender = (name: string): string => name.replace(/(?<=\.layers\.)\d+/, (layer) => String(Number(layer) % period));
  const joint: WeightTable['joint'] = (name) => {
    const lent = weights.joint(lender(name));
    // Members are asked for by the borrower's names.
    const layer = /(?<=\.layers\.)\d+/.exec(name)?.[0] ?? '';
    return lent && { ...lent, starts: new Map(Array.from(lent.starts, ([member, row]) => [member.replace(/(?<=\.layers\.)\d+/, layer), row])) };
  };
  return { quantised: (name) => weights.quantised(lender(name)), joint, vector: (name) => weights.vector(lender(name)) };
}
