import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { submitResponse, type AddPairsRequest } from '../protocol/run.ts';
import { announceRun } from './announce.ts';
import { clientOf, integer, runArgument, withService, type ServiceFlags } from './options.ts';

interface AddFlags extends ServiceFlags {
  wait?: boolean;
  timeout?: number;
}

/** `fleet pairs add RUN N`: more pairs of a judged run, under its sealed rule. */
export function registerPairs(program: Command): void {
  const pairs = program.command('pairs').description('pairs of a run');
  const command = pairs
    .command('add')
    .description('measure more pairs of a judged run: same arms, devices and sealed rule, judged on all pairs together')
    .argument('<run>', 'run id', runArgument)
    .argument('<n>', 'pairs a case', integer(1, 500))
    .option('--wait', 'wait for the verdicts and exit with the worst: 0, 1 or 3')
    .option('--timeout <seconds>', 'with --wait: give up waiting, exit 124', integer(1, 31_536_000));
  withService(command).action(async (run: string, n: number, flags: AddFlags) => {
    const client = clientOf(flags);
    const request: AddPairsRequest = { pairs: n, key: randomUUID() };
    await announceRun(client, await client.post(`/api/runs/${run}/pairs`, request, submitResponse), flags);
  });
}
