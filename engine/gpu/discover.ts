/** Finds every adapter of this host, each probed in a child process of its own environment. */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '../node-process.ts';
import { adapterRecord, type AdapterRecord } from '../protocol.ts';
import { driverEnvironments, singleDriverEnvironments, type DriverEnvironment } from './driver-files.ts';

const CHILD = fileURLToPath(new URL('list-child.ts', import.meta.url));

/** A driver that takes longer to list its adapters counts as not there. */
const PROBE_MS = 30_000;

export interface FoundAdapter {
  readonly record: AdapterRecord;
  readonly environment: DriverEnvironment;
}

/**
 * Adapters that open on this host, GPUs before software, the present environment's first. Each name is reported for the
 * first environment that has it.
 * @param allowSoftware whether CPU drivers are listed.
 * @param environments where to look first; installed drivers are tried one by one when the loader's default opens nothing.
 */
export async function discoverAdapters(allowSoftware: boolean, environments: readonly DriverEnvironment[] = driverEnvironments()): Promise<FoundAdapter[]> {
  const found: FoundAdapter[] = [];
  const look = async (environment: DriverEnvironment): Promise<number> => {
    const records = await probe(environment);
    for (const record of records) {
      const known = found.some((other) => other.record.name === record.name && other.record.backend === record.backend);
      if (!known) found.push({ record, environment });
    }
    return records.length;
  };
  let fromLoader = 0;
  for (const environment of environments) {
    const count = await look(environment);
    if (environment.driverFiles === null) fromLoader = count;
  }
  if (fromLoader === 0) for (const environment of singleDriverEnvironments()) await look(environment);
  return found
    .filter(({ record }) => allowSoftware || record.evidence === 'gpu')
    .toSorted((a, b) => Number(a.record.evidence === 'software') - Number(b.record.evidence === 'software'));
}

/** What opens under one environment; a driver that crashes or hangs its process opens nothing. */
async function probe(environment: DriverEnvironment): Promise<AdapterRecord[]> {
  const args = [...nodeArguments(), CHILD];
  const env = { XDG_RUNTIME_DIR: tmpdir(), ...process.env, ...environment.env };
  const libraryPath = environment.env['LD_LIBRARY_PATH'];
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { env, timeout: PROBE_MS, killSignal: 'SIGKILL', maxBuffer: 16 << 20 }, (_error, text) => resolve(text));
  });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      // A crash can cut the last line short.
      const parsed = adapterRecord.safeParse(parseJson(line));
      return parsed.success ? [{ ...parsed.data, ...(libraryPath === undefined ? {} : { libraryPath }) }] : [];
    });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
