/** A decoder on Dawn's null backend: everything that the host does for a model of any size, and nothing computed. */
import type { Gpu } from '../gpu/device.ts';
import { blankWeights } from '../model/blank-weights.ts';
import type { ModelConfig } from '../model/config.ts';
import { tensorsOf, weightSpecs } from '../model/tensors.ts';
import type { WeightTable } from '../model/weights.ts';
import { Decoder, openGraphs, tokenSteps } from './decoder.ts';
import { variantsOf } from './settings.ts';
import type { Step } from './step.ts';

/** What of decode's settings a token's steps hang on. */
export type TokenSettings = Readonly<Record<string, string>>;

/** More than this, and layers borrow each other's weights on the null backend. */
const MOST_WEIGHT_ELEMENTS = 1 << 26;

/** Layers whose weights are made: all of them, or one period of the layer types where they would not fit. */
export function ownLayers(config: ModelConfig): number {
  const { layerTypes } = config;
  const elements = weightSpecs(config)
    .flatMap(tensorsOf)
    .reduce((sum, { shape }) => sum + shape.reduce((product, extent) => product * extent, 1), 0);
  if (elements <= MOST_WEIGHT_ELEMENTS) return layerTypes.length;
  return layerTypes.findIndex((_, period) => period > 0 && layerTypes.every((type, layer) => type === layerTypes[layer % period]));
}

/** The steps of one token as plain data. */
export function plannedSteps(gpu: Gpu, config: ModelConfig, weights: WeightTable, settings: TokenSettings, context: number): Step[] {
  return tokenSteps(openGraphs(gpu, config, weights, { context, ...variantsOf(settings) }, 1).graph(1, 'token'));
}

/** A decoder of a prompt of one id. */
export function nullDecoder(gpu: Gpu, config: ModelConfig, settings: TokenSettings, context: number): Promise<Decoder> {
  return Decoder.create(gpu, config, blankWeights(gpu, config, ownLayers(config)), { prompt: [0], context, chunk: 1, ...variantsOf(settings) });
}
