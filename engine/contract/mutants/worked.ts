import { readFileSync } from 'node:fs';

/** Clock ticks a second of /proc/PID/stat: 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/**
 * Processor time that a process has had, in milliseconds: on a CPU driver a hung shader works without end, and a machine
 * busy with other things does not make a sound one look hung. Undefined where the platform does not tell.
 */
export function workedMs(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    // The name, in brackets, may hold spaces; utime and stime are the 12th and 13th fields after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    // It has ended; its exit is the next message.
    return undefined;
  }
}
