/** Which part of the model each dispatch of a token belongs to, told by the labels of the weights and states that it binds. */
import type { LayerType, ModelConfig } from '../model/config.ts';
import type { Use } from './dependencies.ts';

/** Layers of a kind that have the same dispatches. */
export interface Section {
  readonly kind: 'embed' | LayerType | 'head';
  /** Layers of this kind; 1 of embed and head. */
  readonly times: number;
  /** `kernel/variant` in the order of one layer. */
  readonly dispatches: readonly string[];
}

/** The layer that a dispatch's own weights or state belong to. */
function layerOf({ bindings }: Use): number | undefined {
  const layers = bindings.flatMap(({ buffer }) => {
    const found = /\.layers\.(\d+)\.|^(?:conv state|recurrent state|key cache|value cache) (\d+)$/.exec(buffer);
    return found ? [Number(found[1] ?? found[2])] : [];
  });
  return layers.length === 0 ? undefined : Math.max(...layers);
}

const FINAL_NORM = 'language_model.model.norm.weight';

/** The place of each dispatch: a layer, or before the first or after the last. One without weights belongs where the one before does. */
export function placesOf(uses: readonly Use[]): (number | 'embed' | 'head')[] {
  let place: number | 'embed' | 'head' = 'embed';
  return uses.map((use) => {
    const layer = layerOf(use);
    if (layer !== undefined) place = layer;
    else if (use.bindings.some(({ buffer }) => buffer === FINAL_NORM)) place = 'head';
    return place;
  });
}

/** Dispatches by kind of layer. Layers of one type with different dispatches make a section each. */
export function sectionsOf(config: ModelConfig, uses: readonly Use[]): Section[] {
  const places = placesOf(uses);
  const at = (place: number | 'embed' | 'head'): string[] =>
    uses.flatMap(({ kernel, variant }, index) => (places[index] === place ? [`${kernel}/${variant}`] : []));
  const sections: Section[] = [{ kind: 'embed', times: 1, dispatches: at('embed') }];
  for (const [layer, kind] of config.layerTypes.entries()) {
    const dispatches = at(layer);
    const same = sections.findIndex((section) => section.kind === kind && section.dispatches.join() === dispatches.join());
    if (same < 0) sections.push({ kind, times: 1, dispatches });
    else sections[same] = { kind, times: sections[same]!.times + 1, dispatches };
  }
  return [...sections, { kind: 'head', times: 1, dispatches: at('head') }];
}
