/**
 * Ends processes that left their group: every process of an attempt carries `FLEET_ATTEMPT=MARKER` in its environment, which
 * survives setsid and double forks. A process group does not hold those (notes/queue.md section 4).
 */
import { readdirSync, readFileSync } from 'node:fs';

export const MARKER_VARIABLE = 'FLEET_ATTEMPT';

/**
 * Processes whose environment carries the marker.
 * @param matches decides on the marker's value.
 * @returns pids, without this process. Empty off Linux, and for processes of other users (their environment cannot be read).
 */
export function findMarked(matches: (marker: string) => boolean): number[] {
  const found: number[] = [];
  for (const entry of listProcesses()) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    let environment: string;
    try {
      environment = readFileSync(`/proc/${entry}/environ`, 'latin1');
    } catch {
      continue; // gone meanwhile, or another user's
    }
    const value = environment
      .split('\0')
      .find((line) => line.startsWith(`${MARKER_VARIABLE}=`))
      ?.slice(MARKER_VARIABLE.length + 1);
    if (value !== undefined && matches(value)) found.push(pid);
  }
  return found;
}

/**
 * Sends SIGKILL to every process that carries the marker, again and again until none is left, since one may fork meanwhile.
 * @returns how many processes were killed.
 */
export function sweepMarked(matches: (marker: string) => boolean): number {
  const killed = new Set<number>();
  for (let round = 0; round < 20; round++) {
    const found = findMarked(matches);
    if (found.length === 0) break;
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
        killed.add(pid);
      } catch {
        // ended by itself
      }
    }
  }
  return killed.size;
}

function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
