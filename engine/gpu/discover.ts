/** Finds every adapter of this host, each probed in a child process of its own environment. */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '../node-process.ts';
import { adapterRecord, type AdapterRecord } from '../protocol.ts';
import { driverEnvironments, type DriverEnvironment } from './driver-files.ts';

const CHILD = fileURLToPath(new URL('list-child.ts', import.meta.url));

/** A driver that takes longer to list its adapters counts as not there. */
const PROBE_MS = 30_000;

export interface FoundAdapter {
  readonly record: AdapterRecord;
  readonly environment: DriverEnvironment;
}

/**
 * Adapters that open on this host, in order of preference: the present environment first, GPUs before software.
 * @param allowSoftware whether CPU drivers are listed.
 * @param environments where to look; each name is reported for the first environment that has it.
 */
export async function discoverAdapters(allowSoftware: boolean, environments: readonly DriverEnvironment[] = driverEnvironments()): Promise<FoundAdapter[]> {
  const found: FoundAdapter[] = [];
  for (const environment of environments) {
    for (const record of await probe(environment, allowSoftware)) {
      if (!found.some((other) => other.record.name === record.name && other.record.backend === record.backend)) found.push({ record, environment });
    }
  }
  return found.toSorted((a, b) => Number(a.record.evidence === 'software') - Number(b.record.evidence === 'software'));
}

/** What opens under one environment; a driver that crashes or hangs its process opens nothing. */
async function probe(environment: DriverEnvironment, allowSoftware: boolean): Promise<AdapterRecord[]> {
  const args = [...nodeArguments(), CHILD, ...(allowSoftware ? ['--allow-software'] : [])];
  const env = { XDG_RUNTIME_DIR: tmpdir(), ...process.env, ...environment.env };
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { env, timeout: PROBE_MS, killSignal: 'SIGKILL', maxBuffer: 16 << 20 }, (_error, text) => resolve(text));
  });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      // A crash can cut the last line short.
      const parsed = adapterRecord.safeParse(parseJson(line));
      return parsed.success ? [parsed.data] : [];
    });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
