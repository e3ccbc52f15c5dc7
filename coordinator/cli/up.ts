import type { Command } from 'commander';
import { DEFAULT_PORT } from '../protocol/api.ts';
import { configOf, integer, type ServiceFlags } from './options.ts';
import { runRoom } from './rooms.ts';

/** `fleet up`: the coordinator, in the foreground. */
export function registerUp(program: Command): void {
  program
    .command('up')
    .description('run the coordinator here, in the foreground')
    .option('--state <dir>', 'state directory (FLEET_STATE; fleet.toml: state)')
    .option('--port <n>', 'port on 127.0.0.1; 0 picks a free one', integer(0, 65_535), DEFAULT_PORT)
    .action(async (flags: ServiceFlags & { port: number }) => {
      process.exitCode = await runRoom('coordinator', ['--state', configOf(flags).state.value, '--port', String(flags.port)]);
    });
}
