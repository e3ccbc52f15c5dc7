/** The engine's command line, run as a process of its own on each adapter that opens on this host. */
import { execFile } from 'node:child_process';
import { expect } from 'vitest';
import { nodeArguments } from '../../engine/node-process.ts';
import { parseRecords, type AdapterRecord, type EngineRecord } from '../../engine/protocol.ts';

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `engine ARGS…`. */
export function runEngine(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const main = new URL('../../engine/main.ts', import.meta.url).pathname;
  return new Promise((resolve) => {
    execFile(process.execPath, [...nodeArguments(), main, ...args], { env: { ...process.env, ...env }, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
  });
}

/** Adapters that open on this host. At least one must. */
export async function engineAdapters(): Promise<AdapterRecord[]> {
  return (await recordsOf(['devices'])).filter((record) => record.kind === 'adapter');
}

/** Runs a command on one adapter, which must end in status 0 with a whole file of records. */
export function recordsOn(adapter: AdapterRecord, command: string, ...args: string[]): Promise<EngineRecord[]> {
  return recordsOf([command, ...args, '--adapter', adapter.name], adapter.driverFiles === null ? {} : { VK_DRIVER_FILES: adapter.driverFiles });
}

async function recordsOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<EngineRecord[]> {
  const ran = await runEngine([...args, '--allow-software', '--json'], env);
  expect({ status: ran.status, stderr: ran.stderr }).toMatchObject({ status: 0 });
  const { records, whole } = parseRecords(ran.stdout);
  expect(whole).toBe(true);
  return records;
}

/** The one record of a kind. */
export function only<K extends EngineRecord['kind']>(records: readonly EngineRecord[], kind: K): Extract<EngineRecord, { kind: K }> {
  const found = records.filter((record): record is Extract<EngineRecord, { kind: K }> => record.kind === kind);
  expect(found).toHaveLength(1);
  return found[0]!;
}
