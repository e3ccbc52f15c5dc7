/**
 * Where an agent keeps things.
 *
 *   STATE/deps/KEY/                 npm installations, shared by the agents of a host that use the same STATE
 *   STATE/DEVICE/agent.lock         flock(2)ed by the live agent of the device
 *   STATE/DEVICE/id                 marks this agent's processes (FLEET_ATTEMPT=ID/JOB/ATTEMPT)
 *   STATE/DEVICE/heads.git/         bare repository            STATE/DEVICE/worktrees/SHA/   a checked-out head
 *   STATE/DEVICE/legs/JOB/N/INDEX/  a leg's records and `out`  STATE/DEVICE/spool/           results not yet accepted
 *   TMPDIR/fleet-ID/                HOME and TMPDIR of legs, emptied at start
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { removeTree } from './dependencies.ts';

const KEEP_LEGS_DAYS = 14;

export interface StateFolder {
  deps: string;
  own: string;
  lock: string;
  legs: string;
  spool: string;
  scratchRoot: string;
  /** Prefix of every marker of this agent. */
  id: string;
}

/** `FLEET_AGENT_STATE`, else `XDG_STATE_HOME/fleet-agent`, else ~/.local/state/fleet-agent. */
export function defaultStateFolder(environment: NodeJS.ProcessEnv): string {
  const own = environment['FLEET_AGENT_STATE'];
  if (own !== undefined && own !== '') return resolve(own);
  const base = environment['XDG_STATE_HOME'];
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.local', 'state'), 'fleet-agent');
}

/** Makes the folders of one device's agent (mode 0700: the spool holds tokens). */
export function openStateFolder(path: string, device: string): StateFolder {
  const root = resolve(path);
  const own = join(root, device);
  makeDirectory(own, '--state DIR');
  const idFile = join(own, 'id');
  if (!existsSync(idFile)) {
    writeFileSync(`${idFile}.new`, randomBytes(6).toString('hex'));
    renameSync(`${idFile}.new`, idFile);
  }
  const id = readFileSync(idFile, 'utf8').trim();
  return {
    deps: join(root, 'deps'),
    own,
    lock: join(own, 'agent.lock'),
    legs: join(own, 'legs'),
    spool: join(own, 'spool'),
    scratchRoot: join(tmpdir(), `fleet-${id}`),
    id,
  };
}

/** Removes what stays of jobs that began more than two weeks ago. */
export async function removeOldLegs(legs: string, now: number = Date.now()): Promise<void> {
  if (!existsSync(legs)) return;
  for (const job of readdirSync(legs)) {
    const folder = join(legs, job);
    if (now - statSync(folder).mtimeMs > KEEP_LEGS_DAYS * 86_400_000) await removeTree(folder);
  }
}

/**
 * Makes a directory and its parents, one at a time: Node 20's recursive mkdir never returns where a parent refuses with ENOENT
 * (/proc does).
 * @throws Error naming what could not be made, and the option that changes it.
 */
function makeDirectory(path: string, option: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path), option);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new Error(`${path} cannot be made (${(cause as Error).message}). next: choose a folder that you may write with ${option}`, { cause });
  }
}
