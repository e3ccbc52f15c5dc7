import type { Command } from 'commander';
import { runRoom } from './rooms.ts';

/** `fleet engine …`: the engine itself, every argument and the exit status unchanged. */
export function registerEngine(program: Command): void {
  program
    .command('engine')
    .description('run the engine: devices | contract | decode …; arguments pass through unchanged')
    .argument('[args...]')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (args: string[]) => {
      process.exitCode = await runRoom('engine', args);
    });
}
