/** `decode`: loads a checkpoint, decodes one prompt in two passes, and writes the decode record. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LaunchRefused } from '../../kernels/contract.ts';
import { EngineRefused, EngineUsage } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { refuseUnlessServed } from '../gpu/needs.ts';
import { openGpuAnywhere } from '../gpu/relaunch.ts';
import { Stream } from '../gpu/stream.ts';
import { Checkpoint } from '../model/checkpoint.ts';
import { readConfig, type ModelConfig } from '../model/config.ts';
import { loadWeights } from '../model/fill-weights.ts';
import { checkTensors } from '../model/tensors.ts';
import { loadTokenizer, type TextCodec } from '../model/tokenizer.ts';
import { vmHwmKiB } from '../process-memory.ts';
import { RECORD_SCHEMA, type DecodeRecord, type TwoLengthRecord } from '../protocol.ts';
import type { Session } from '../session.ts';
import { Choices } from '../tune/choices.ts';
import { Decoder } from './decoder.ts';
import { identityPass } from './identity-pass.ts';
import { profileLines, profilePass } from './profile-pass.ts';
import { idsSha256, parseIds, readPrompt, type Prompt, type PromptOptions } from './prompt.ts';
import { ranLine, ranRecord } from './ran.ts';
import { needsOf, variantsOf } from './settings.ts';
import { timedPass, type Timed } from './timed-pass.ts';
import { countLines, perToken } from './two-length.ts';

/** Absolute: a relative one is of no use from another directory. */
const SHIPPED_MODEL = fileURLToPath(new URL('../models/qwen3.5-tiny-books', import.meta.url));

export interface DecodeOptions extends PromptOptions {
  readonly model: string;
  readonly steps: number;
  readonly context?: number | undefined;
  readonly logits?: string | undefined;
  readonly pinnedIds?: string | undefined;
  readonly timedReadback?: boolean | undefined;
  /** Also decode this many steps, fewer than `steps`, and give the exact counts of one token. */
  readonly shorter?: number | undefined;
  /** Also measure GPU time by kernel, in passes of their own. */
  readonly profile?: boolean | undefined;
  /** The variants that tune chose: its file, or true for the one of this adapter and driver. */
  readonly tuned?: string | true | undefined;
  readonly adapter?: string | undefined;
  readonly allowSoftware?: boolean | undefined;
}

/** What was asked, checked as far as it can be without a GPU. */
interface Job {
  readonly folder: string;
  readonly config: ModelConfig;
  /** Undefined for a model without tokenizer, which takes ids only. */
  readonly codec: TextCodec | undefined;
  readonly prompt: Prompt;
  readonly context: number;
  readonly pinned: readonly number[] | undefined;
}

/**
 * Runs `decode`. Everything that can be refused is refused before any GPU memory is taken.
 * @throws EngineRefused, EngineUsage, EngineBroken, EngineTimeout.
 */
export async function decodeCommand(session: Session, options: DecodeOptions): Promise<void> {
  const job = prepare(options);
  const checkpoint = Checkpoint.open(job.folder);
  try {
    const ignored = checkTensors(job.folder, job.config, checkpoint.tensors);
    if (ignored.size > 0)
      session.print(`ignored what is not the text model's: ${Array.from(ignored, ([part, count]) => `${count} ${part} tensors`).join(', ')}`);
    const needs = needsOf(session.settings);
    const gpu = await openGpuAnywhere({ adapter: options.adapter, allowSoftware: options.allowSoftware ?? false, needs: [...needs.keys()] });
    session.emit(gpu.adapter);
    for (const [need, setting] of needs) refuseUnlessServed(gpu, need, setting);
    const choices = options.tuned === undefined ? undefined : Choices.read(options.tuned === true ? undefined : options.tuned, gpu.adapter);
    for (const record of await decode(gpu, session, options, job, checkpoint, choices)) {
      session.emit(record);
      if (record.kind === 'decode') printRecord(session, record);
      else for (const line of countLines(record.perToken)) session.print(line);
    }
  } catch (error) {
    if (error instanceof LaunchRefused)
      throw new EngineRefused(`a kernel does not serve this model: ${error.message}`, 'use a model of a served size', { cause: error });
    throw error;
  } finally {
    checkpoint.close();
  }
}

function prepare(options: DecodeOptions): Job {
  if (!statSync(options.model, { throwIfNoEntry: false })?.isDirectory()) {
    throw new EngineRefused(`there is no model folder ${options.model}`, `name a checkpoint folder, such as the shipped one: --model ${SHIPPED_MODEL}`);
  }
  const folder = realpathSync(options.model);
  const config = readConfig(folder);
  const codec = existsSync(join(folder, 'tokenizer.json')) ? loadTokenizer(folder) : undefined;
  const prompt = readPrompt(folder, options, () => codec ?? loadTokenizer(folder), config.vocab);
  const needed = prompt.ids.length + options.steps;
  const context = options.context ?? needed;
  if (context < needed) throw new EngineUsage(`--context ${context} is too small: ${prompt.ids.length} prompt ids and ${options.steps} steps need ${needed}`);
  if (context > config.maxPositions)
    throw new EngineRefused(`a context of ${context} is more than the model's ${config.maxPositions} positions`, 'use fewer --steps or a shorter prompt');
  const pinned = options.pinnedIds === undefined ? undefined : parseIds('--pinned-ids', options.pinnedIds);
  if (pinned && pinned.length < options.steps) throw new EngineUsage(`--pinned-ids has ${pinned.length} ids for ${options.steps} steps`);
  return { folder, config, codec, prompt, context, pinned };
}

async function decode(
  gpu: Gpu,
  session: Session,
  options: DecodeOptions,
  job: Job,
  checkpoint: Checkpoint,
  choices: Choices | undefined,
): Promise<(DecodeRecord | TwoLengthRecord)[]> {
  const { config, prompt, context, codec, pinned } = job;
  const { steps } = options;
  const sha256 = await checkpoint.sha256();
  const stream = new Stream(gpu);
  const loading = performance.now();
  const beforeLoadKiB = vmHwmKiB();
  const weights = await loadWeights(gpu, stream, config, checkpoint);
  const loadMs = performance.now() - loading;
  const loaded = { weightBytes: gpu.buffers.live, beforeLoadKiB, afterLoadKiB: vmHwmKiB() };
  const decoder = await Decoder.create(gpu, config, weights, {
    prompt: prompt.ids,
    context,
    chunk: Number(session.settings['chunk']),
    choose: choices && ((step) => choices.step(step)),
    ...variantsOf(session.settings),
  });
  const residentBytes = gpu.buffers.live;
  const identity = await identityPass(gpu, stream, decoder, steps, config.vocab, options.logits);
  const run = (count: number): Promise<Timed> => timedPass(gpu, stream, decoder, count, config.vocab, options.timedReadback ?? false);
  const short = options.shorter === undefined ? undefined : { steps: options.shorter, counters: (await run(options.shorter)).counters };
  const timed = await run(steps);
  const long = { steps, counters: timed.counters };
  const memory = { ...loaded, residentBytes, peakBytes: gpu.buffers.peak };
  const profile = options.profile ? await profilePass(gpu, stream, decoder, identity.ids) : undefined;
  const record: DecodeRecord = {
    schema: RECORD_SCHEMA,
    kind: 'decode',
    model: { id: basename(job.folder), sha256 },
    prompt: { name: prompt.name, tokens: prompt.ids.length, sha256: idsSha256(prompt.ids) },
    steps,
    context,
    ids: identity.ids,
    text: codec?.decode(identity.ids) ?? '',
    digest: identity.digest,
    stepDigests: identity.stepDigests,
    checksumsMatch: identity.checksums.join() === timed.checksums.join() && identity.ids.join() === timed.ids.join(),
    pinnedIdsMatch: pinned ? pinned.slice(0, steps).join() === identity.ids.join() : null,
    timing: { ...timed.timing, loadMs },
    counters: timed.counters,
    memory,
    ran: await ranRecord(decoder.ran.prompt, decoder.ran.token),
    tuned: choices ? { path: choices.path, sha256: choices.sha256 } : null,
    settings: { ...session.settings },
    adapter: gpu.adapter.name,
    ...(profile && { profile }),
    // The file holds the very bytes that were hashed.
    logitsFile: options.logits === undefined ? null : { path: options.logits, bytes: statSync(options.logits).size, sha256: identity.digest },
  };
  return short ? [record, { schema: RECORD_SCHEMA, kind: 'two-length', runs: [short, long], perToken: perToken(short, long) }] : [record];
}

function printRecord({ print }: Session, record: DecodeRecord): void {
  const { timing } = record;
  const figures = [
    `load ${timing.loadMs.toFixed(1)} ms`,
    `prefill ${timing.prefillMs.toFixed(1)} ms`,
    `decode ${timing.decodeMs.total.toFixed(1)} ms (p50 ${timing.decodeMs.p50.toFixed(2)}, p90 ${timing.decodeMs.p90.toFixed(2)})`,
    `total ${timing.totalMs.toFixed(1)} ms`,
  ];
  print(`${record.adapter}  ${record.model.id}  ${record.prompt.tokens} prompt ids, ${record.steps} steps`);
  if (record.text !== '') print(record.text);
  print(`ids ${record.ids.join(',')}`);
  print(`digest ${record.digest}${record.checksumsMatch ? '' : '  CHECKSUMS DIFFER between the two passes'}`);
  if (record.pinnedIdsMatch !== null) print(`pinned ids ${record.pinnedIdsMatch ? 'match' : 'DIFFER'}`);
  print(figures.join('  '));
  if (record.ran) print(`${ranLine(record.ran)}${record.tuned ? `; tuned by ${record.tuned.path}` : ''}`);
  if (record.memory) print(memoryLine(record.memory));
  if (record.profile) for (const line of profileLines(record.profile)) print(line);
}

function memoryLine({ residentBytes, peakBytes, weightBytes, beforeLoadKiB, afterLoadKiB }: NonNullable<DecodeRecord['memory']>): string {
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  const process = afterLoadKiB === null ? '' : `; process at its peak ${mb((beforeLoadKiB ?? 0) * 1024)} before loading, ${mb(afterLoadKiB * 1024)} after`;
  return `GPU buffers ${mb(residentBytes)}, weights ${mb(weightBytes)}, at most ${mb(peakBytes)}${process}`;
}
