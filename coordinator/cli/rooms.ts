/** Spawning a room's `main.ts`. The CLI imports no other room; it runs them as processes of their own. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import os from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { FLEET_EXIT } from '../protocol/errors.ts';

export type Room = 'coordinator' | 'agent' | 'engine';

/** Dawn's native code says this of every device that it opens; nothing follows from it. */
const DAWN_NOISE = /^Warning: maxDynamic(Uniform|Storage)BuffersPerPipelineLayout artificially reduced/;

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
  const quiet = room === 'engine' && !process.env['ENGINE_TRACE'];
  const child = spawnRoom(room, args, { stdio: ['inherit', 'inherit', quiet ? 'pipe' : 'inherit'] });
  if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', (line) => DAWN_NOISE.test(line) || process.stderr.write(`${line}\n`));
  // A terminal signals the whole foreground group, the child included; a supervisor such as systemd signals only us. The
  // child gets it in both cases, and we wait for its orderly end.
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      // Not 'exit': the last lines may still be in the pipe.
      child.once('close', (code, signal) =>
        resolve(code ?? (signal === 'SIGINT' ? FLEET_EXIT.interrupted : 128 + (signal ? os.constants.signals[signal] : 0))),
      );
    });
  } finally {
    for (const signal of signals) process.off(signal, forward);
  }
}
