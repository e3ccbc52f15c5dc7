/** Who holds a lock file, as far as the host tells: for people who wait, never for a decision. */
import { readdirSync, readFileSync, statSync } from 'node:fs';

/**
 * Names the process that holds an flock on the file.
 *
 * /proc/locks names the process that called flock(2), which for an inherited descriptor has exited long ago. /proc/PID/fdinfo/FD
 * lists the locks of that very descriptor, so the processes that have the file open are searched first.
 * @returns such as `flock /home/u/gpu.lock ./bench.sh (pid 4711)`; null when nobody does, or the host does not tell.
 */
export function describeLockHolder(path: string): string | null {
  let ino: number;
  try {
    ino = statSync(path).ino;
  } catch {
    return null;
  }
  const pid = holderByDescriptor(ino) ?? holderByLockTable(ino);
  if (pid === null) return null;
  return `${commandOf(pid) ?? 'a process of another user'} (pid ${pid})`;
}

function holderByDescriptor(ino: number): number | null {
  for (const pid of numericEntries('/proc')) {
    if (pid === process.pid) continue;
    for (const fd of numericEntries(`/proc/${pid}/fd`)) {
      let info: string;
      try {
        info = readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8');
      } catch {
        continue;
      }
      if (/^lock:\s.*\bFLOCK\b/m.test(info) && new RegExp(`^lock:.*:${ino} `, 'm').test(info)) return pid;
    }
  }
  return null;
}

function holderByLockTable(ino: number): number | null {
  try {
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:2146401 0 EOF"; a waiter's line has "->" and is no holder.
      const match = /^\d+: FLOCK\s+\S+\s+\S+\s+(\d+) [0-9a-f]+:[0-9a-f]+:(\d+) /.exec(line);
      if (match !== null && Number(match[2]) === ino && Number(match[1]) > 0) return Number(match[1]);
    }
  } catch {
    // not Linux
  }
  return null;
}

function commandOf(pid: number): string | null {
  try {
    const parts = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .split('\0')
      .filter((part) => part !== '');
    if (parts.length === 0) return null;
    // Our own supervisor carries the job in its arguments; the job says more than the node command line.
    const script = parts.findIndex((part) => part.endsWith('agent/supervisor.ts'));
    if (script >= 0 && parts[script + 1] !== undefined) return `fleet job ${parts[script + 1]}`;
    return parts.join(' ').slice(0, 200);
  } catch {
    return null;
  }
}

function numericEntries(folder: string): number[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}
