/**
 * Weights of a config without a checkpoint: buffers of the right sizes that hold nothing. For what does not ask what a model computes:
 * its plan, and what it costs the host.
 */
import { EngineBroken } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { ModelConfig } from './config.ts';
import { Weights, type WeightTable } from './weights.ts';

/**
 * Blank weights in which layer i has the buffers of layer i mod `period`: 2b's own would not fit a null device, whose memory ends near
 * 500 MiB.
 * @throws EngineBroken when layers that would share buffers are of two types.
 */
export function blankWeights(gpu: Gpu, config: ModelConfig, period: number = config.layerTypes.length): WeightTable {
  if (config.layerTypes.some((type, layer) => type !== config.layerTypes[layer % period])) throw new EngineBroken(`layers do not repeat with period ${period}`);
  const few = { ...config, layerTypes: config.layerTypes.slice(0, period) };
  const weights = Weights.allocate(gpu, few);
  const lender = (name: string): string => name.replace(/(?<=\.layers\.)\d+/, (layer) => String(Number(layer) % period));
  const joint: WeightTable['joint'] = (name) => {
    const lent = weights.joint(lender(name));
    // Members are asked for by the borrower's names.
    const layer = /(?<=\.layers\.)\d+/.exec(name)?.[0] ?? '';
    return lent && { ...lent, starts: new Map(Array.from(lent.starts, ([member, row]) => [member.replace(/(?<=\.layers\.)\d+/, layer), row])) };
  };
  return { quantised: (name) => weights.quantised(lender(name)), joint, vector: (name) => weights.vector(lender(name)) };
}
