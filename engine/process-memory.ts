/** What this process has had in memory. */
import { readFileSync } from 'node:fs';

/**
 * Peak resident set so far, in KiB, from /proc/self/status: getrusage's maxRSS is inherited across exec, so it is not used. Null off Linux.
 */
export function vmHwmKiB(): number | null {
  if (process.platform !== 'linux') return null;
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return found === undefined ? null : Number(found);
}
