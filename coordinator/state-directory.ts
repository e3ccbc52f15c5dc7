/**
 * The state directory: everything that one coordinator owns on disk, held by one live process at a time.
 *
 *   coordinator.lock  flock(2)ed by the live coordinator      fleet.sqlite  the truth
 *   server.json       {url, pid} of the live coordinator      heads.git/    bare repository
 *   blobs/ab/ab…      content-addressed logs and records      redis/        data of the coordinator's own redis-server
 *   tmp/              files on their way; emptied at start
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export interface StateDirectory {
  readonly path: string;
  readonly database: string;
  readonly heads: string;
  readonly blobs: string;
  readonly redis: string;
  readonly tmp: string;
  /** Writes server.json in one step, once the coordinator listens. */
  announce(url: string): void;
  /** Removes server.json and gives the directory up. */
  release(): void;
}

/** `FLEET_STATE`, else `XDG_STATE_HOME/fleet`, else ~/.local/state/fleet. */
export function defaultStateDirectory(environment: NodeJS.ProcessEnv): string {
  const own = environment['FLEET_STATE'];
  if (own) return resolve(own);
  return join(environment['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'fleet');
}

/**
 * Takes a state directory, creating it if need be (mode 0700: it holds tokens' hashes and Redis' password).
 * @throws Error naming the live coordinator when one has it already.
 */
export function takeStateDirectory(path: string): StateDirectory {
  const root = resolve(path);
  const inside = (name: string): string => join(root, name);
  makeDirectory(root, '--state DIR');
  const descriptor = openSync(inside('coordinator.lock'), 'a', 0o600);
  if (!lockDescriptor(descriptor)) {
    closeSync(descriptor);
    throw new Error(`${root} is served by a live coordinator${describeServer(inside('server.json'))}. next: use it, or start another with --state DIR`);
  }
  rmSync(inside('tmp'), { recursive: true, force: true });
  for (const name of ['blobs', 'redis', 'tmp']) mkdirSync(inside(name), { recursive: true, mode: 0o700 });
  const server = inside('server.json');
  return {
    path: root,
    database: inside('fleet.sqlite'),
    heads: inside('heads.git'),
    blobs: inside('blobs'),
    redis: inside('redis'),
    tmp: inside('tmp'),
    announce(url) {
      writeFileSync(`${server}.new`, `${JSON.stringify({ url, pid: process.pid })}\n`, { mode: 0o600 });
      renameSync(`${server}.new`, server);
    },
    release() {
      rmSync(server, { force: true });
      closeSync(descriptor);
    },
  };
}

/**
 * Makes a directory and its parents, one at a time: Node 20's recursive mkdir never returns where a parent refuses with ENOENT
 * (/proc does).
 * @throws Error naming what could not be made, and the option that changes it.
 */
export function makeDirectory(path: string, option: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path), option);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new Error(`${path} cannot be made (${(cause as Error).message}). next: choose a folder that you may write with ${option}`, { cause });
  }
}

/** The lock belongs to the open file description, so it stays with this process after flock(1) has exited. */
function lockDescriptor(descriptor: number): boolean {
  const stdio: ['ignore', 'ignore', 'pipe', number] = ['ignore', 'ignore', 'pipe', descriptor];
  const byFlock = spawnSync('flock', ['-n', '-E', '75', '3'], { stdio });
  if (byFlock.error === undefined) {
    if (byFlock.status === 0) return true;
    if (byFlock.status === 75) return false;
    throw new Error(`flock failed (${byFlock.status}): ${byFlock.stderr.toString().trim()}`);
  }
  // macOS has no flock(1); its perl takes the same lock.
  const byPerl = spawnSync('perl', ['-e', 'use Fcntl ":flock"; open(my $f, "<&=", 3) or exit 2; exit(flock($f, LOCK_EX | LOCK_NB) ? 0 : 75)'], { stdio });
  if (byPerl.error !== undefined)
    throw new Error('neither flock nor perl is there to lock the state directory. next: apt-get install util-linux', { cause: byPerl.error });
  return byPerl.status === 0;
}

function describeServer(file: string): string {
  try {
    const { url, pid } = JSON.parse(readFileSync(file, 'utf8')) as { url: string; pid: number };
    return ` (pid ${pid}, ${url})`;
  } catch {
    return '';
  }
}
