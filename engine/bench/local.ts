/**
 * `npm run bench`: what a token of Qwen3.5-2B costs the host, and what the engine's habits are worth, on this machine. `--json` prints one
 * object and nothing else. Times on a CPU driver are no GPU evidence; the counts are the same everywhere.
 */
import { Command } from 'commander';
import { parseSettings } from '../decode/settings.ts';
import { openGpuAnywhere } from '../gpu/relaunch.ts';
import { runCommand } from '../session.ts';
import { hostCost, type HostCost } from './host-cost.ts';
import { batched, resident, vectorised, type Ratio } from './ratios.ts';

/** A token in fused kernels, as one decodes that is to be fast; `--set` overrides. */
const FUSED = ['fusion=on'];

interface LocalOptions {
  readonly json?: boolean;
  readonly adapter?: string;
  readonly config: string;
  readonly set: readonly string[];
}

interface Report extends HostCost {
  readonly adapter: string;
  readonly evidence: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly ratios: readonly Ratio[];
}

function lines(report: Report): string[] {
  const [least, most] = report.hostMsRange;
  return [
    `a token of ${report.model} on Dawn's null backend: ${report.hostMsPerToken.toFixed(3)} ms of host time (${least.toFixed(3)} to ${most.toFixed(3)})`,
    `${report.dispatchesPerToken} dispatches with bindings of ${report.bindingLimit} bytes (${report.dispatchesUnsplit} where the head fits one binding), ` +
      `${report.submitsPerToken} submits, ${report.bytesReadPerToken} bytes read back`,
    ...Object.entries(report.dispatches)
      .toSorted(([, a], [, b]) => b - a)
      .map(([kernel, count]) => `${String(count).padStart(5)}  ${kernel}`),
    `on ${report.adapter} (${report.evidence}):`,
    ...report.ratios.map(
      ({ name, withoutMs, withMs, ratio }) => `${ratio.toFixed(2).padStart(7)} ×  ${name} (${withoutMs.toFixed(3)} → ${withMs.toFixed(3)} ms)`,
    ),
  ];
}

async function main(argv: readonly string[]): Promise<number> {
  const options = new Command('bench')
    .option('--json', 'print one JSON object instead of prose')
    .option('--adapter <name>', 'part of the adapter’s name, any case')
    .option('--config <name>', 'the config whose token is counted: tiny, 2b, 2b-slice or awkward', '2b')
    .option(
      '--set <key=value>',
      `a setting of decode, repeatable, over ${FUSED.join(', ')}`,
      (value: string, before: readonly string[]) => [...before, value],
      [],
    )
    .parse([...argv], { from: 'user' })
    .opts<LocalOptions>();
  return runCommand(
    'bench',
    {},
    () => parseSettings([...FUSED, ...options.set]),
    async ({ settings }) => {
      // First, since it may run all of this in a second process that has a driver.
      const gpu = await openGpuAnywhere({ adapter: options.adapter, allowSoftware: true });
      const cost = await hostCost(options.config, settings);
      const ratios = [await batched(gpu), await resident(gpu, settings), await vectorised(gpu)];
      const report: Report = { ...cost, adapter: gpu.adapter.name, evidence: gpu.adapter.evidence, settings, ratios };
      process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : `${lines(report).join('\n')}\n`);
    },
  );
}

// The pinned Dawn instances keep the event loop alive, so the process has to be ended.
process.exit(await main(process.argv.slice(2)));
