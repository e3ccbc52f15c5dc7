/** What must be true under the lock before the first leg: cheap checks whose failure would make every leg of the series worthless. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { delimiter } from 'node:path';
import type { AdapterRecord } from '../engine/protocol.ts';
import { AttemptFailure } from './failure.ts';

const MIN_FREE_BYTES = 256 * 1024 * 1024;

/**
 * Whether an adapter opens is left to the legs, whose engine refuses with its own reason.
 * @param folder where legs write.
 * @throws AttemptFailure transient, since a person can put each of these right.
 */
export async function preflight(adapter: AdapterRecord, folder: string): Promise<void> {
  for (const file of adapter.driverFiles?.split(delimiter) ?? []) {
    if (!existsSync(file))
      throw new AttemptFailure('transient', `the driver file ${file} of "${adapter.name}" is gone`, 'restart the agent, which looks for drivers anew');
  }
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < MIN_FREE_BYTES) {
    throw new AttemptFailure('transient', `${folder} has ${Math.round((bavail * bsize) / 1e6)} MB left`, `free at least ${MIN_FREE_BYTES / 1e6} MB there`);
  }
}
