/** The page cache before a leg: dropped where the agent was told to (`--drop-caches`) and may. */
import { writeFile } from 'node:fs/promises';
import type { MachineState } from '../coordinator/protocol/machine.ts';

/**
 * Drops clean pages of the whole machine, so that a leg reads its model from disk. Linux only, and root's alone.
 * @returns null where it was not permitted: what the cache then holds is unknown.
 */
export async function dropPageCache(file = '/proc/sys/vm/drop_caches'): Promise<NonNullable<MachineState['pageCache']> | null> {
  try {
    // 1: page cache; 2 would drop directory entries and inodes too, which no leg's time hangs on.
    await writeFile(file, '1\n', { flag: 'r+' });
    return 'dropped';
  } catch {
    return null;
  }
}
