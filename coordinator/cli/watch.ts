import type { Command } from 'commander';
import { detachOnInterrupt, followRun } from './follow.ts';
import { clientOf, integer, runArgument, withService, type ServiceFlags } from './options.ts';
import { printJson } from './output.ts';
import { printResult, runResult } from './run-result.ts';

/** `fleet watch RUN`: follows a run that was submitted before, and exits as `submit --wait` would. */
export function registerWatch(program: Command): void {
  const command = program
    .command('watch')
    .description('follow a run to its end; exits with its worst verdict')
    .argument('<run>', 'run id', runArgument)
    .option('--timeout <seconds>', 'give up waiting, exit 124', integer(1, 31_536_000));
  withService(command).action(async (run: string, flags: ServiceFlags & { timeout?: number }) => {
    detachOnInterrupt(run);
    const result = runResult(await followRun(clientOf(flags), run, { timeoutS: flags.timeout }));
    if (flags.json) printJson(result);
    else printResult(result);
    process.exitCode = result.exit;
  });
}
