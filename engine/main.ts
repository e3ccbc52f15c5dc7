/**
 * The engine's command line. One process runs one command, writes what it did as records, and says nothing about jobs,
 * queues or HTTP: it has never heard of them.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { listDevices } from './devices.ts';
import { openGpuAnywhere } from './gpu/relaunch.ts';
import { EXIT } from './protocol.ts';
import { runCommand, type SessionOptions } from './session.ts';

interface DeviceOptions extends SessionOptions {
  readonly allowSoftware?: boolean;
  readonly adapter?: string;
}

interface ContractOptions extends DeviceOptions {
  readonly group?: string;
  readonly kernel?: string;
  readonly repeat?: number;
  readonly mutants?: number | true;
}

interface DecodeCommandOptions extends DeviceOptions {
  readonly model: string;
  readonly prompt?: string;
  readonly promptIds?: string;
  readonly text?: string;
  readonly steps: number;
  readonly context?: number;
  readonly set: readonly string[];
  readonly logits?: string;
  readonly pinnedIds?: string;
  readonly timedReadback?: boolean;
  readonly profile?: boolean;
  readonly twoLength?: readonly [number, number];
  readonly tuned?: string | true;
}

interface BenchCommandOptions extends DeviceOptions {
  readonly kernel: string;
  readonly shape?: string;
  readonly rounds: number;
  readonly set: readonly string[];
  readonly result?: boolean;
}

interface TuneCommandOptions extends DeviceOptions {
  readonly model?: string;
  readonly config?: string;
  readonly prompts: readonly number[];
  readonly rounds: number;
  readonly anyFamily?: boolean;
  readonly out?: string;
  readonly set: readonly string[];
}

interface InventoryCommandOptions extends SessionOptions {
  readonly model?: string;
  readonly config?: string;
  readonly bindingLimit: number;
  readonly set: readonly string[];
}

interface SynthCommandOptions extends SessionOptions {
  readonly config: string;
  readonly seed: number;
  readonly out: string;
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('it must be a positive whole number.');
  return value;
}

function twoLengths(text: string): [number, number] {
  const [short, long] = text.split(',').map(count);
  if (short === undefined || long === undefined || short >= long || text.split(',').length > 2)
    throw new InvalidArgumentError('it must be two whole numbers, the shorter first, such as 4,12.');
  return [short, long];
}

function seedNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 0xffffffff) throw new InvalidArgumentError('it must be a whole number from 0 to 4294967295.');
  return value;
}

const noSettings = (): Record<string, string> => ({});

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

function withDevice(command: Command): Command {
  return withRecords(command)
    .option('--allow-software', 'run on a CPU Vulkan driver where no GPU is asked for; never GPU evidence')
    .option('--adapter <name>', 'part of the adapter’s name, any case');
}

function withRecords(command: Command): Command {
  return command.option('--records <file>', 'write the records there, one JSON object a line').option('--json', 'print the records on stdout instead of prose');
}

/** commander's `error: …` in the form of every other error here: what and why on one line, and the command that helps. */
function nameOwnHelp(command: Command, name: string): void {
  command.configureOutput({
    outputError: (text, write) => {
      const what = text
        .replace(/^error: /, '')
        .replaceAll(/\s*\n\s*/g, ' ')
        .replace(/[.\s]+$/, '');
      write(`${name}: ${what}. next: fleet ${name} --help\n`);
    },
  });
  for (const child of command.commands) nameOwnHelp(child, `${name} ${child.name()}`);
}

/** Runs the command line. @returns the exit status. */
async function main(argv: readonly string[]): Promise<number> {
  let status: number = EXIT.executed;
  const program = new Command('engine').description('fleet engine: kernels and decode on one device').exitOverride();

  withRecords(program.command('devices'))
    .description('list the adapters that open on this host')
    .option('--allow-software', 'list CPU Vulkan drivers too')
    .action(async (options: DeviceOptions) => {
      status = await runCommand('devices', options, noSettings, (session) => listDevices(session, options.allowSoftware ?? false));
    });

  withDevice(program.command('contract'))
    .description('hold kernels to their contracts, and controls to being caught')
    .option('--group <group>', 'only kernels of this group')
    .option('--kernel <kernel>', 'only this kernel')
    .option('--repeat <n>', 'runs of each case in the integrity gate', count)
    .option('--mutants [n]', 'instead, edit each shader in n ways (12 when no number is given) and count the edits that a gate catches', count)
    .action(async (options: ContractOptions) => {
      const { group, kernel, repeat, mutants } = options;
      status = await runCommand('contract', options, noSettings, async ({ emit, print }) => {
        const { runContract } = await import('./contract/run.ts');
        const { runMutants } = await import('./contract/mutants/run.ts');
        const { loadRegistry } = await import('../kernels/registry.ts');
        const { select } = await import('./contract/select.ts');
        // A name that is none is told before seconds go into a device.
        select(await loadRegistry(), { group, kernel });
        const gpu = await openGpuAnywhere({ adapter: options.adapter, allowSoftware: options.allowSoftware ?? false });
        emit(gpu.adapter);
        if (mutants === undefined) await runContract(gpu, { group, kernel, repeat, emit, print });
        else await runMutants(gpu, { group, kernel, repeat, each: mutants === true ? undefined : mutants, emit, print });
      });
    });

  withDevice(program.command('decode'))
    .description('decode one prompt greedily, twice: once for its digest, once for its time')
    .requiredOption('--model <dir>', 'folder of the checkpoint')
    .option('--prompt <name>', 'MODEL/prompts/NAME.json')
    .option('--prompt-ids <ids>', 'comma-separated ids, or a file with a JSON array')
    .option('--text <text>', 'text to tokenise')
    .option('--steps <n>', 'ids to generate', count, 64)
    .option('--context <n>', 'positions of the cache (default: prompt + steps)', count)
    .option('--set <key=value>', 'a setting, repeatable; engine/README.md lists them', collect, [])
    .option('--logits <file>', 'write all logits rows there, little-endian float32')
    .option('--pinned-ids <file>', 'JSON array of the ids that must come out')
    .option('--timed-readback', 'read every logits row back inside the timed pass too')
    .option('--tuned [file]', 'run the variants that tune chose: its file, or the one kept for this adapter and driver')
    .option('--profile', 'also measure GPU time by kernel, in passes of one dispatch each, and host time a token')
    .addOption(
      new Option('--two-length <a,b>', 'decode b steps, and a steps before, and give the exact counts of one token').argParser(twoLengths).conflicts('steps'),
    )
    .action(async (options: DecodeCommandOptions) => {
      const { decodeCommand } = await import('./decode/command.ts');
      const { parseSettings } = await import('./decode/settings.ts');
      status = await runCommand(
        'decode',
        options,
        () => parseSettings(options.set),
        (session) => decodeCommand(session, options.twoLength ? { ...options, shorter: options.twoLength[0], steps: options.twoLength[1] } : options),
      );
    });

  withDevice(program.command('probe'))
    .description('measure the device: read stream, dispatch, submit and readback, and whether its timestamps can be believed')
    .action(async (options: DeviceOptions) => {
      const { probeCommand } = await import('./probe/command.ts');
      status = await runCommand('probe', options, noSettings, (session) => probeCommand(session, options));
    });

  withDevice(program.command('bench'))
    .description('time the variants of one kernel on one shape of its contract, interleaved')
    .requiredOption('--kernel <kernel>', 'the kernel')
    .option('--shape <shape>', 'part of the name of one of its contract’s shapes, or every field as k=v,…')
    .option('--rounds <n>', 'samples of each variant', count, 7)
    .option('--result', 'only the variant that decode would run, as one RESULT line')
    .option('--set <key=value>', 'a setting of decode, repeatable; it chooses the variant of --result', collect, [])
    .action(async (options: BenchCommandOptions) => {
      const { kernelBench } = await import('./bench/kernel.ts');
      const { parseSettings } = await import('./decode/settings.ts');
      status = await runCommand(
        'bench',
        options,
        () => parseSettings(options.set),
        (session) => kernelBench(session, options),
      );
    });

  withDevice(program.command('tune'))
    .description('choose the fastest variant of each shape on this device; decode --tuned runs them')
    .addOption(new Option('--model <dir>', 'folder of the checkpoint; only its config.json is read').conflicts('config'))
    .option('--config <name>', 'instead of a model: tiny, 2b, 2b-slice or awkward')
    .option('--prompts <n,…>', 'tokens of the prompts whose chunks are tuned for', (text: string) => text.split(',').map(count), [24, 256, 1024])
    .option('--rounds <n>', 'samples of each variant', count, 5)
    .option('--any-family', 'choose among all families: digests change')
    .option('--out <file>', 'where the choices go (default: fleet/tuned in the user’s cache folder, by adapter and driver)')
    .option('--set <key=value>', 'a setting of decode, repeatable', collect, [])
    .action(async (options: TuneCommandOptions) => {
      const { tuneCommand } = await import('./tune/command.ts');
      const { parseSettings } = await import('./decode/settings.ts');
      status = await runCommand(
        'tune',
        options,
        () => parseSettings(options.set),
        (session) => tuneCommand(session, options),
      );
    });

  withRecords(program.command('inventory'))
    .description('the dispatches of one token, what orders them, and what overlap could win; needs no device')
    .addOption(new Option('--model <dir>', 'folder of the checkpoint; only its config.json is read').conflicts('config'))
    .option('--config <name>', 'instead of a model: tiny, 2b, 2b-slice or awkward')
    .option('--binding-limit <bytes>', 'bytes that the device binds at once', count, 2 ** 31 - 4)
    .option('--set <key=value>', 'a setting of decode, repeatable', collect, [])
    .action(async (options: InventoryCommandOptions) => {
      const { inventoryCommand } = await import('./decode/inventory.ts');
      const { parseSettings } = await import('./decode/settings.ts');
      status = await runCommand(
        'inventory',
        options,
        () => parseSettings(options.set),
        (session) => inventoryCommand(session, options),
      );
    });

  withRecords(program.command('synth'))
    .description('write a random checkpoint in the MLX 4-bit layout; the same seed gives the same bytes')
    .requiredOption('--config <name>', 'tiny, 2b, 2b-slice or awkward')
    .option('--seed <n>', 'seed of every weight', seedNumber, 1)
    .requiredOption('--out <dir>', 'a new folder for config.json and model.safetensors')
    .action(async (options: SynthCommandOptions) => {
      const { synthCommand } = await import('./synth/command.ts');
      status = await runCommand('synth', options, noSettings, (session) => synthCommand(session, options));
    });

  nameOwnHelp(program, 'engine');
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.executed : EXIT.usage;
  }
}

// The pinned Dawn instances keep the event loop alive, so the process has to be ended.
process.exit(await main(process.argv.slice(2)));
