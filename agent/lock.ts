/**
 * The device's GPU lock: flock(2) on the file that people lock by hand (`flock ~/gpu.lock cmd`).
 *
 * Node has no flock. The flock binary locks a descriptor that it inherits as 3; the lock belongs to the open file description, so
 * it stays with this process after the binary has exited, and ends when the descriptor is closed, by SIGKILL too (measured:
 * notes/queue.md section 3). Node opens files close-on-exec, so no child gets the descriptor unless it is handed over. The file is
 * never unlinked: whoever holds the old one and whoever opens a new one would both believe they hold the lock.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** flock's exit status for "somebody else holds it"; chosen here, by -E. */
const BUSY = 75;
const PERL_FLOCK = `use Fcntl ':flock'; open(my $f, '+<&=', 3) or exit 2; exit(flock($f, LOCK_EX | LOCK_NB) ? 0 : ${BUSY})`;

/** A lock that this process holds. */
export class HeldLock {
  readonly path: string;
  readonly fd: number;

  constructor(path: string, fd: number) {
    this.path = path;
    this.fd = fd;
  }

  /**
   * Whether a second open of the path fails to lock, and the path still names the file that was locked. False means that somebody
   * unlocked, replaced or removed the file, and that whoever locks by hand now would get in.
   */
  stillHeld(): boolean {
    let second: number;
    try {
      second = openSync(this.path, constants.O_RDWR);
    } catch {
      return false;
    }
    try {
      const locked = fstatSync(this.fd);
      const named = statSync(this.path);
      return locked.ino === named.ino && locked.dev === named.dev && flockDescriptor(second) === 'busy';
    } catch {
      return false;
    } finally {
      closeSync(second); // also unlocks, had it got the lock
    }
  }

  release(): void {
    closeSync(this.fd);
  }
}

/**
 * Tries once, without waiting.
 * @returns the held lock, or null when somebody else holds it.
 * @throws Error when the file cannot be opened or there is no flock binary.
 */
export function tryLock(path: string): HeldLock | null {
  mkdirSync(dirname(path), { recursive: true });
  // Mode 666 before the umask: people of other accounts lock the same file.
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o666);
  try {
    if (flockDescriptor(fd) === 'locked') return new HeldLock(path, fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return null;
}

function flockDescriptor(fd: number): 'locked' | 'busy' {
  const stdio: ['ignore', 'ignore', 'pipe', number] = ['ignore', 'ignore', 'pipe', fd];
  let run = spawnSync('flock', ['-n', '-E', String(BUSY), '3'], { stdio, encoding: 'utf8' });
  // macOS has no flock(1); its perl takes the same lock.
  if (run.error !== undefined) run = spawnSync('perl', ['-e', PERL_FLOCK], { stdio, encoding: 'utf8' });
  if (run.error !== undefined) {
    throw new Error('cannot lock: neither flock nor perl starts; install util-linux: apt-get install util-linux', { cause: run.error });
  }
  if (run.status === 0) return 'locked';
  if (run.status === BUSY) return 'busy';
  throw new Error(`cannot lock: flock ended with status ${run.status ?? run.signal}: ${run.stderr.trim()}`);
}
