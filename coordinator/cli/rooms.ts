/** Spawning a room's `main.ts`. The CLI imports no other room; it runs them as processes of their own. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { FLEET_EXIT } from '../protocol/errors.ts';

export type Room = 'coordinator' | 'agent' | 'engine';

/** The repository that this fleet runs from. */
export const FLEET_ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** Starts a room. tsx is named by its address, since `--import tsx` would be looked up from the caller's directory. */
export function spawnRoom(room: Room, args: readonly string[], options: SpawnOptions): ChildProcess {
  const main = fileURLToPath(new URL(`../../${room}/main.ts`, import.meta.url));
  return spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main, ...args], options);
}

/**
 * Runs a room in the foreground: its terminal, signals and exit status become ours.
 * @returns the exit status; 128 + n when signal n ended it.
 */
export async function runRoom(room: Room, args: readonly string[]): Promise<number> {
  const child = spawnRoom(room, args, { stdio: 'inherit' });
  // A terminal signals the whole foreground group, the child included; a supervisor such as systemd signals only us. The
  // child gets it in both cases, and we wait for its orderly end.
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? FLEET_EXIT.interrupted : 128 + (signal ? os.constants.signals[signal] : 0))));
    });
  } finally {
    for (const signal of signals) process.off(signal, forward);
  }
}
