import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { clientOf, runArgument, withService, type ServiceFlags } from './options.ts';
import { plain, print, printJson } from './output.ts';

/** `fleet receipt RUN --out FILE`: the raw files of a finished run as a tar that anybody can verify. */
export function registerReceipt(program: Command): void {
  const command = program
    .command('receipt')
    .description('write a finished run as a tar: records, logs, order, sealed rule, versions, and the SHA-256 of each file')
    .argument('<run>', 'run id', runArgument)
    .requiredOption('--out <file>', 'file to write');
  withService(command).action(async (run: string, flags: ServiceFlags & { out: string }) => {
    await clientOf(flags).download(`/api/runs/${encodeURIComponent(run)}/receipt`, flags.out);
    const hash = createHash('sha256');
    await pipeline(createReadStream(flags.out), hash);
    const sha256 = hash.digest('hex');
    if (flags.json) printJson({ schema: 1, run, file: flags.out, sha256 });
    else print(`${sha256}  ${plain(flags.out)}`);
  });
}
