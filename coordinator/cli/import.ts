import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { deviceName } from '../protocol/ids.ts';
import { importResponse, type ImportRecordsRequest } from '../protocol/run.ts';
import { CliError } from './cli-error.ts';
import { clientOf, names, withService, type ServiceFlags } from './options.ts';
import { print, printJson } from './output.ts';

interface ImportFlags extends ServiceFlags {
  device?: string;
  labels?: string[];
}

/** `fleet import FILE…`: a receipt, or engine records of a machine that reaches nothing; read-only, and marked as imported. */
export function registerImport(program: Command): void {
  const command = program
    .command('import')
    .description('take in a receipt, or bare engine records (one file an arm, the first is the baseline), read-only and marked as imported')
    .argument('<files...>', 'a receipt from fleet receipt, or files that fleet engine … --records wrote')
    .option('--device <name>', 'records: name of the device that made them')
    .option('--labels <a,b>', 'records: names of the arms; default: those of the files', names);
  withService(command).action(async (files: string[], flags: ImportFlags) => {
    const client = clientOf(flags);
    const answer = (await isRecords(files[0]!))
      ? await client.post('/api/imports/records', await recordsOf(files, flags), importResponse)
      : await client.upload('/api/imports/receipts', onlyOne(files), importResponse);
    if (flags.json) printJson({ schema: 1, ...answer });
    else print(`${answer.run}  ${answer.url}`);
  });
}

/** A line of records starts with a brace; a tar starts with the name of its first file. */
async function isRecords(file: string): Promise<boolean> {
  return (await read(file)).subarray(0, 64).toString('utf8').trimStart().startsWith('{');
}

function onlyOne(files: readonly string[]): string {
  if (files.length > 1) throw new CliError(`${files[0]} is no file of engine records, and receipts are imported one at a time`, `fleet import ${files[0]}`);
  return files[0]!;
}

async function recordsOf(files: readonly string[], { device, labels }: ImportFlags): Promise<ImportRecordsRequest> {
  if (device === undefined) throw new CliError('engine records do not say which device made them', 'name it with --device NAME');
  const parsed = deviceName.safeParse(device);
  if (!parsed.success) throw new CliError(`--device ${device}: ${parsed.error.issues[0]!.message}`, 'name it with --device NAME');
  if (labels !== undefined && labels.length !== files.length)
    throw new CliError(`there are ${files.length} files and ${labels.length} labels`, 'give one label a file');
  const texts = await Promise.all(files.map(async (file) => (await read(file)).toString('utf8')));
  return { device, files: texts.map((records, at) => ({ label: labels?.[at] ?? basename(files[at]!), records })) };
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new CliError(`${file} cannot be read: ${(cause as Error).message}`, 'name a receipt or a file of engine records', undefined, { cause });
  }
}
