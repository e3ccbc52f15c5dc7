import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import { configOf, type ServiceFlags } from './options.ts';
import { runRoom } from './rooms.ts';

interface AgentFlags extends ServiceFlags {
  device?: string;
  adapter?: string;
  lock?: string;
  agentState?: string;
  allowSoftware?: boolean;
  dropCaches?: boolean;
}

/** `fleet agent`: one device's agent, in the foreground. */
export function registerAgent(program: Command): void {
  program
    .command('agent')
    .description('serve one device, in the foreground')
    .option('--device <name>', 'name of the device in fleet, such as b60')
    .option('--adapter <pattern>', 'part of the adapter name that `fleet engine devices` prints')
    .option('--lock <file>', 'GPU lock file, the one that people lock by hand')
    .option('--agent-state <dir>', 'where this agent keeps heads, installs and its spool')
    .option('--allow-software', 'serve a software Vulkan driver; its results are never GPU evidence')
    .option('--drop-caches', 'drop the page cache before each leg; needs root, and is recorded as unknown without')
    .option('--url <url>', 'the coordinator (FLEET_URL; fleet.toml: url)')
    .option('--state <dir>', 'state directory of a coordinator on this machine, to find its address')
    .action(async (flags: AgentFlags) => {
      const example = 'fleet agent --device b60 --adapter "Arc Pro B60"';
      if (flags.device === undefined) throw new CliError('--device is missing: an agent serves one named device', example);
      if (flags.adapter === undefined)
        throw new CliError('--adapter is missing: it picks the adapter by a part of its name', 'fleet engine devices --allow-software lists them');
      process.exitCode = await runRoom('agent', [
        '--url',
        configOf(flags).url.value,
        '--device',
        flags.device,
        '--adapter',
        flags.adapter,
        ...(flags.lock === undefined ? [] : ['--lock', flags.lock]),
        ...(flags.agentState === undefined ? [] : ['--state', flags.agentState]),
        ...(flags.allowSoftware ? ['--allow-software'] : []),
        ...(flags.dropCaches ? ['--drop-caches'] : []),
      ]);
    });
}
