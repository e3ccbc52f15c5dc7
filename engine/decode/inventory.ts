/**
 * `inventory`: the dispatches of one token and what orders them, from the steps as planned. The same code's plan for the null backend is
 * held to a token that is really recorded there, so that the table is not a story about the code.
 */
import { basename } from 'node:path';
import { EngineBroken, EngineUsage } from '../errors.ts';
import { openNullGpu, planGpu } from '../gpu/null-device.ts';
import { observe } from '../gpu/observe.ts';
import { Stream } from '../gpu/stream.ts';
import { blankWeights } from '../model/blank-weights.ts';
import { parseConfig, readConfig, type ModelConfig } from '../model/config.ts';
import { RECORD_SCHEMA, type InventoryRecord } from '../protocol.ts';
import type { Session } from '../session.ts';
import { configJson, SYNTH_NAMES } from '../synth/configs.ts';
import { dependenciesOf, recordedFault, usesOf, type Dependencies, type Use } from './dependencies.ts';
import { nullDecoder, ownLayers, plannedSteps, type TokenSettings } from './null-decode.ts';
import { inventoryLines } from './inventory-lines.ts';
import { sectionsOf } from './sections.ts';

/** Positions of the caches: they change no dispatch, and the null backend has little memory. */
const CONTEXT = 64;

export interface InventoryOptions {
  readonly model?: string | undefined;
  readonly config?: string | undefined;
  readonly bindingLimit: number;
}

/** Runs `inventory`. @throws EngineUsage; EngineRefused for a model that is not served; EngineBroken when the table is not what is recorded. */
export async function inventoryCommand({ emit, print, settings }: Session, options: InventoryOptions): Promise<void> {
  const { name, config } = subjectOf(options);
  const table = plan(config, settings, options.bindingLimit);
  const recorded = await recordedUses(config, settings);
  const fault = recordedFault(recorded.plan, recorded.uses);
  if (fault !== '') throw new EngineBroken(`the table of ${name} is not what is recorded: ${fault}`);
  const { uses, edges, buffers, serial, slots, critical, dataCritical } = table;
  const record: InventoryRecord = {
    schema: RECORD_SCHEMA,
    kind: 'inventory',
    model: name,
    settings: { ...settings },
    bindingLimit: options.bindingLimit,
    sections: sectionsOf(config, uses).map(({ kind, times, dispatches }) => ({ kind, times, dispatches: [...dispatches] })),
    dispatches: uses.map(({ kernel, variant, bindings }) => ({ kernel, variant, bindings: [...bindings] })),
    buffers: buffers.map(({ buffer, producers, consumers, carried }) => ({ buffer, producers: [...producers], consumers: [...consumers], carried })),
    edges: [...edges],
    serial,
    slots,
    critical,
    dataCritical,
    recorded: recorded.uses.length,
  };
  emit(record);
  for (const line of inventoryLines(record)) print(line);
}

/** @throws EngineUsage unless exactly one of a model and a known config is named. */
export function subjectOf({ model, config }: Pick<InventoryOptions, 'model' | 'config'>): { name: string; config: ModelConfig } {
  if (model !== undefined) return { name: basename(model), config: readConfig(model) };
  const name = SYNTH_NAMES.find((each) => each === config);
  if (name === undefined) throw new EngineUsage(`name a model with --model DIR, or one of ${SYNTH_NAMES.join(', ')} with --config`);
  return { name, config: parseConfig(`config ${name}`, configJson(name)) };
}

/** The table of a token on a device that binds `bindingLimit` bytes. */
export function plan(config: ModelConfig, settings: TokenSettings, bindingLimit: number, layers: number = config.layerTypes.length): Dependencies {
  const gpu = planGpu(bindingLimit);
  return dependenciesOf(usesOf(plannedSteps(gpu, config, blankWeights(gpu, config, layers), settings, CONTEXT)));
}

/** A token as the null backend's calls had it, and the plan for that device. */
export async function recordedUses(config: ModelConfig, settings: TokenSettings): Promise<{ plan: Dependencies; uses: Use[] }> {
  const gpu = await openNullGpu();
  try {
    const seen = observe(gpu);
    const stream = new Stream(gpu);
    const decoder = await nullDecoder(gpu, config, settings, CONTEXT);
    decoder.reset(stream);
    decoder.recordToken(stream, 1);
    stream.submit('token');
    await stream.done();
    const uses = seen.map(({ pipeline, bindings }) => {
      const [kernel, variant] = pipeline.split('/');
      return { kernel: kernel!, variant: variant!, bindings };
    });
    return { plan: plan(config, settings, gpu.device.limits.maxStorageBufferBindingSize, ownLayers(config)), uses };
  } finally {
    gpu.close();
  }
}
