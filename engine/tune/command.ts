/**
 * `tune`: for every shape of a model's passes, the variant of its kernel that is fastest on this device, measured in turn in one process.
 * Only variants whose outputs are bit for bit their family's are chosen.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { loadKernel } from '../../kernels/registry.ts';
import type { Kernel } from '../../kernels/contract.ts';
import { launchesOf, familyOf, benchSubject, type BenchSubject } from '../bench/subject.ts';
import { measureVariants } from '../bench/variants.ts';
import { chunksOf, openGraphs, tokenSteps, promptHeadSteps } from '../decode/decoder.ts';
import { forwardSteps } from '../decode/graph.ts';
import { subjectOf } from '../decode/inventory.ts';
import { shapeText } from '../decode/ran.ts';
import { variantsOf } from '../decode/settings.ts';
import type { Step } from '../decode/step.ts';
import { EngineUsage } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import { planGpu } from '../gpu/null-device.ts';
import { openGpuAnywhere } from '../gpu/relaunch.ts';
import { blankWeights } from '../model/blank-weights.ts';
import type { ModelConfig } from '../model/config.ts';
import { openBench } from '../probe/probe.ts';
import { RECORD_SCHEMA, type TuneRecord } from '../protocol.ts';
import type { Session } from '../session.ts';
import { choiceLine, fastest, tunedPath } from './choices.ts';

type Choice = TuneRecord['choices'][number];

/** What is already used stays unless another is this much faster: less is what two runs differ by. */
const MARGIN = 0.02;

/** Positions of the caches that shapes are planned for: only attention's depend on it, whose kernels have one variant. */
const CONTEXT = 1536;

export interface TuneOptions {
  readonly model?: string | undefined;
  readonly config?: string | undefined;
  /** Tokens of the prompts whose chunks are tuned for. */
  readonly prompts: readonly number[];
  readonly rounds: number;
  /** Choose among all families: digests change. */
  readonly anyFamily?: boolean | undefined;
  readonly out?: string | undefined;
  readonly adapter?: string | undefined;
  readonly allowSoftware?: boolean | undefined;
}

/** Runs `tune`. @throws EngineUsage, EngineRefused, EngineBroken, EngineTimeout. */
export async function tuneCommand({ emit, print, settings }: Session, options: TuneOptions): Promise<void> {
  const { name, config } = subjectOf(options);
  const longest = Math.max(...options.prompts);
  if (longest > config.maxPositions) throw new EngineUsage(`--prompts ${longest} is more than the model's ${config.maxPositions} positions`);
  const gpu = await openGpuAnywhere({ adapter: options.adapter, allowSoftware: options.allowSoftware ?? false });
  emit(gpu.adapter);
  const record = await tune(gpu, name, stepsOf(gpu, config, settings, options.prompts), settings, options.rounds, options.anyFamily ?? false, print);
  const path = options.out === undefined ? tunedPath(gpu.adapter) : resolve(options.out);
  store(path, record);
  emit(record);
  const changed = record.choices.filter(({ variant, present }) => variant !== present).length;
  print(`${record.choices.length} shapes, ${changed} with another variant; ${path}: fleet engine decode --tuned${options.out === undefined ? '' : ` ${path}`}`);
}

/** Steps of a token, and of the chunks and heads of prompts, as decode would build them on this device. */
function stepsOf(gpu: Gpu, config: ModelConfig, settings: Readonly<Record<string, string>>, prompts: readonly number[]): Step[] {
  const limits = gpu.device.limits;
  const plan = planGpu(Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize));
  const rows = [...new Set(prompts.flatMap((length) => chunksOf(length, Number(settings['chunk'])).map((chunk) => chunk.rows)))];
  const most = Math.max(...rows);
  const { graph, scratch } = openGraphs(plan, config, blankWeights(plan, config), { context: CONTEXT, ...variantsOf(settings) }, most);
  const chunks = rows.flatMap((count) => [...forwardSteps(graph(count, 'chunk'), scratch.rows('prompt ids', 1)), ...promptHeadSteps(graph(count, 'chunk'))]);
  return [...tokenSteps(graph(1, 'token')), ...chunks];
}

/** Measures every shape of the steps whose kernel has a choice. */
async function tune(
  gpu: Gpu,
  model: string,
  steps: readonly Step[],
  settings: Readonly<Record<string, string>>,
  rounds: number,
  anyFamily: boolean,
  print: (line: string) => void,
): Promise<TuneRecord> {
  const { bench, timestamps } = await openBench(gpu);
  const choices = new Map<string, Choice>();
  for (const { kernel, shape, variant } of steps) {
    if (kernel.variants.length === 1) continue;
    const present = kernel.launch(shape, variant).variant;
    const subject = await subjectOfStep(kernel, shapeText(shape));
    const key = `${kernel.name} ${shapeText(shape)} ${anyFamily ? '' : familyOf(subject, present)}`;
    if (choices.has(key)) continue;
    const { launches, refused } = launchesOf(subject, gpu.adapter.limits);
    const allowed = (each: string): boolean => anyFamily || familyOf(subject, each) === familyOf(subject, present);
    // The present one first: within its family, it is what the others are compared with.
    const candidates = launches.filter((launch) => allowed(launch.variant)).toSorted((a, b) => Number(b.variant === present) - Number(a.variant === present));
    if (candidates.length < 2) continue;
    const { variants } = await measureVariants(bench, subject, candidates, rounds);
    const chosen = fastest(present, variants, MARGIN);
    const choice = {
      kernel: kernel.name,
      shape: { ...shape },
      present,
      variant: chosen,
      family: familyOf(subject, chosen),
      variants: [...variants],
      refused: refused.filter((each) => allowed(each.variant)),
    };
    choices.set(key, choice);
    print(choiceLine(choice));
  }
  bench.stamps?.destroy();
  const { name, driver, evidence } = gpu.adapter;
  const found = { adapter: name, driver, evidence, model, settings: { ...settings }, families: anyFamily ? ('any' as const) : ('within' as const) };
  return { schema: RECORD_SCHEMA, kind: 'tune', ...found, rounds, clock: timestamps.trusted ? 'timestamp' : 'wall', choices: [...choices.values()] };
}

async function subjectOfStep(kernel: Kernel, shape: string): Promise<BenchSubject> {
  const { contract } = await loadKernel(kernel.name);
  if (!contract) throw new EngineUsage(`${kernel.name} has no contract, so nothing says which of its variants agree`);
  return benchSubject(contract, shape);
}

/** Whole or not at all: a decode may be reading it. */
function store(path: string, record: TuneRecord): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.${process.pid}`, `${JSON.stringify(record, undefined, 2)}\n`);
    renameSync(`${path}.${process.pid}`, path);
  } catch (cause) {
    throw new EngineUsage(`--out ${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
