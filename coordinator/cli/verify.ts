import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { ReceiptFiles } from '../core/receipt.ts';
import { ReceiptError } from '../core/receipt-error.ts';
import { verifyReceipt, type Difference, type Verification } from '../core/verify-receipt.ts';
import { FLEET_EXIT } from '../protocol/errors.ts';
import { readArchive } from '../receipt-archive.ts';
import { CliError } from './cli-error.ts';
import { plain, print, printJson } from './output.ts';

/** `fleet verify FILE`: every figure of a receipt's report, computed anew from its raw files. Needs no coordinator. */
export function registerVerify(program: Command): void {
  program
    .command('verify')
    .description('recompute every figure of a receipt from its raw files and name the first that differs; exit 0 equal, 1 differs, 2 unreadable')
    .argument('<file>', 'a receipt, from fleet receipt')
    .option('--json', 'print JSON on stdout')
    .action(async (file: string, flags: { json?: boolean }) => {
      const result = await verified(file);
      const equal = result.first === null && result.changed.length === 0;
      if (flags.json) printJson({ schema: 1, equal, ...result });
      else for (const line of lines(result, equal)) print(plain(line));
      process.exitCode = equal ? FLEET_EXIT.ok : FLEET_EXIT.differs;
    });
}

async function verified(file: string): Promise<Verification> {
  try {
    const files: ReceiptFiles = await readArchive(createReadStream(file));
    return verifyReceipt(files);
  } catch (cause) {
    const system = (cause as NodeJS.ErrnoException).code;
    if (!(cause instanceof ReceiptError) && system === undefined) throw cause;
    throw new CliError(`${file} is no receipt that can be read: ${(cause as Error).message}`, 'fleet receipt RUN --out FILE', FLEET_EXIT.usage, { cause });
  }
}

function lines(result: Verification, equal: boolean): string[] {
  if (equal) return [`equal: ${result.figures} figures of run ${result.run}, computed anew from ${result.files} raw files`];
  const from = `the receipt was written by fleet ${result.writtenBy}`;
  return [
    ...(result.first === null ? [] : [`differs: ${result.first.figure}: ${difference(result.first)}`]),
    ...(result.unreadable === null ? [] : [`differs: no figure can be computed: ${result.unreadable}`]),
    ...(result.first === null && result.unreadable === null ? [`differs: raw files were changed, though no figure follows from what was changed`] : []),
    ...result.changed.map((name) => `changed: ${name} is not the file whose SHA-256 is listed`),
    ...(result.changed.length === 0 ? [`every raw file is as listed: the report was changed, or another version computed it (${from})`] : []),
  ];
}

function difference({ stated, computed }: Difference): string {
  const text = (value: Difference['stated']): string => (value === undefined ? 'nothing' : String(value));
  return `the report says ${text(stated)}, the raw files give ${text(computed)}`;
}
