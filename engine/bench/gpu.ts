/**
 * `npm run bench:gpu`: the engine's figures on a GPU machine, with random weights of Qwen3.5-2B. Each step is an engine process of its own,
 * so that one that fails leaves the others' figures. Needs production packages only, and no network.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { parseSettings } from '../decode/settings.ts';
import { EngineUsage } from '../errors.ts';
import { readConfig } from '../model/config.ts';
import { EXIT } from '../protocol.ts';
import { runStep, type StepResult } from './engine-step.ts';
import { reportLines, reportOf } from './gpu-report.ts';

/** What is fastest of what the engine has (the table of levers in engine/README.md); `--set` overrides. */
const FAST = ['fusion=fixed', 'gdn-prompt=chunked', 'chunk=1024'];

/** Of one step. A CPU driver's prompts take minutes. */
const LIMIT_MS = { gpu: 150_000, software: 1_800_000 } as const;

interface GpuBenchOptions {
  readonly model?: string;
  readonly config: string;
  readonly prompts: readonly number[];
  readonly steps: number;
  readonly rounds: number;
  readonly context: number;
  readonly set: readonly string[];
  readonly adapter?: string;
  readonly allowSoftware?: boolean;
  readonly tune: boolean;
  readonly json?: boolean;
}

function whole(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('it must be a positive whole number.');
  return Number(text);
}

/** Ids of a prompt of random weights: any will do, the same on every machine. */
function promptIds(length: number, vocab: number): number[] {
  return Array.from({ length }, (_, index) => (index * 7919 + 13) % vocab);
}

async function runSteps(options: GpuBenchOptions, folder: string, scratch: string, settings: readonly string[], ran: StepResult[]): Promise<void> {
  const limit = LIMIT_MS[options.allowSoftware ? 'software' : 'gpu'];
  const device = [...(options.adapter === undefined ? [] : ['--adapter', options.adapter]), ...(options.allowSoftware ? ['--allow-software'] : [])];
  const step = async (name: string, args: readonly string[]): Promise<StepResult> => {
    process.stderr.write(`${name} …\n`);
    const result = await runStep(name, args, limit);
    ran.push(result);
    return result;
  };
  if (options.model === undefined && (await step('synth', ['synth', '--config', options.config, '--out', folder])).failure !== null) return;
  const { vocab } = readConfig(folder);
  await step('probe', ['probe', ...device]);
  const sets = settings.flatMap((setting) => ['--set', setting]);
  const file = join(scratch, 'tuned.json');
  const tune = ['tune', '--model', folder, '--prompts', options.prompts.join(), '--rounds', String(options.rounds), '--out', file, ...sets, ...device];
  const tuned = options.tune && (await step('tune', tune)).failure === null ? ['--tuned', file] : [];
  const decode = (tokens: number, ...more: string[]): string[] => {
    const path = join(scratch, `prompt-${tokens}.json`);
    writeFileSync(path, JSON.stringify(promptIds(tokens, vocab)));
    return ['decode', '--model', folder, '--prompt-ids', path, '--context', String(options.context), ...sets, ...tuned, ...device, ...more];
  };
  const { prompts, steps } = options;
  for (const [index, tokens] of prompts.entries()) {
    // Exact counts of one token are the same at every prompt.
    const length = index === 0 && steps > 1 ? ['--two-length', `${Math.ceil(steps / 2)},${steps}`] : ['--steps', String(steps)];
    await step(`decode ${tokens}`, decode(tokens, ...length));
  }
  for (const tokens of new Set([prompts[0]!, prompts.at(-1)!]))
    await step(`profile ${tokens}`, decode(tokens, '--steps', String(Math.max(2, Math.min(steps, 17))), '--profile'));
}

async function main(argv: readonly string[]): Promise<number> {
  const options = new Command('bench:gpu')
    .option('--model <dir>', 'folder of a checkpoint; absent: random weights of --config, written for this run')
    .option('--config <name>', 'what to write: tiny, 2b, 2b-slice or awkward', '2b')
    .option('--prompts <n,…>', 'tokens of each prompt', (text: string) => text.split(',').map(whole), [24, 256, 1024])
    .option('--steps <n>', 'ids to generate', whole, 64)
    .option('--context <n>', 'positions of the cache', whole, 1536)
    .option(
      '--set <key=value>',
      `a setting of decode, repeatable, over ${FAST.join(', ')}`,
      (value: string, before: readonly string[]) => [...before, value],
      [],
    )
    .option('--adapter <name>', 'part of the adapter’s name, any case')
    .option('--allow-software', 'run on a CPU Vulkan driver; never GPU evidence')
    .option('--no-tune', 'decode in the settings’ own variants')
    .option('--rounds <n>', 'samples of each variant that tune takes', whole, 5)
    .option('--json', 'print one JSON object on stdout instead of the table')
    .parse([...argv], { from: 'user' })
    .opts<GpuBenchOptions>();
  const settings = [...FAST, ...options.set];
  const scratch = mkdtempSync(join(tmpdir(), 'bench-gpu-'));
  try {
    const effective = parseSettings(settings);
    const folder = options.model === undefined ? join(scratch, options.config) : resolve(options.model);
    const ran: StepResult[] = [];
    await runSteps(options, folder, scratch, settings, ran);
    const report = reportOf(basename(folder), effective, options.context, ran);
    process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : `${reportLines(report).join('\n')}\n`);
    return ran.find(({ status }) => status !== EXIT.executed)?.status ?? (ran.some(({ failure }) => failure !== null) ? EXIT.broken : EXIT.executed);
  } catch (error) {
    if (!(error instanceof EngineUsage)) throw error;
    process.stderr.write(`bench:gpu: ${error.message}. next: npm run bench:gpu -- --help\n`);
    return EXIT.usage;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

process.exit(await main(process.argv.slice(2)));
