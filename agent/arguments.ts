/** The agent's command line. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { deviceName } from '../coordinator/protocol/ids.ts';
import type { Evidence } from '../engine/protocol.ts';
import { defaultStateFolder } from './state-folder.ts';

export const USAGE = 'node --import tsx agent/main.ts --url URL --device NAME --adapter PATTERN [--lock PATH] [--state DIR] [--allow-software] [--drop-caches]';

export interface AgentArguments {
  url: string;
  device: string;
  /** Part of the adapter's name, in any case. */
  adapter: string;
  /** Absolute; null for the default, which depends on the evidence. */
  lock: string | null;
  state: string;
  allowSoftware: boolean;
  /** Drop the page cache before each leg, where that is permitted. */
  dropCaches: boolean;
  defaultLock(evidence: Evidence): string;
}

export class UsageError extends Error {}

/** @throws UsageError in one line. */
export function parseArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): AgentArguments {
  const string = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  let values;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: { url: string, device: string, adapter: string, lock: string, state: string, 'allow-software': flag, 'drop-caches': flag },
    }));
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message.split('\n', 1).join('') : String(cause), { cause });
  }
  const { url, device, adapter } = values;
  if (url === undefined || device === undefined || adapter === undefined) throw new UsageError('--url, --device and --adapter are needed');
  if (!/^https?:\/\/\S+$/.test(url) || !URL.canParse(url)) throw new UsageError(`--url ${url} is no http or https URL`);
  const named = deviceName.safeParse(device);
  if (!named.success) throw new UsageError(`--device ${device}: ${named.error.issues[0]!.message}`);
  const home = homedir();
  const absolute = (path: string): string => resolve(path.replace(/^~(?=\/|$)/, home));
  return {
    url,
    device,
    adapter,
    lock: values.lock === undefined ? null : absolute(values.lock),
    state: values.state === undefined ? defaultStateFolder(environment) : absolute(values.state),
    allowSoftware: values['allow-software'],
    dropCaches: values['drop-caches'],
    // All software devices of a host share the CPU, hence one lock.
    defaultLock: (evidence) => join(home, evidence === 'gpu' ? 'gpu.lock' : 'gpu-software.lock'),
  };
}
