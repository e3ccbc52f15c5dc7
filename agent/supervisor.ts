/**
 * The trusted process that holds the device's GPU lock for a whole series of legs and runs each of them.
 *
 * It is a process of its own so that the lock's life does not hang on the agent's network and queue code, and so that the head's
 * process, which is arbitrary code, never shares a process with the lock's descriptor. Arguments: JOB (only to be readable in ps).
 * Who ends whom:
 *   agent dies      → stdin ends → this kills the leg's group, releases the lock, exits
 *   this dies       → the kernel releases the lock and (pdeathsig) kills the leg; the agent sweeps the rest by marker
 *   leg hangs       → time limit, SIGTERM to its group, 2 s, SIGKILL
 */
import { createInterface } from 'node:readline';
import { startCommand, type RunningCommand } from './group-process.ts';
import { describeLockHolder } from './lock-holder.ts';
import { tryLock, type HeldLock } from './lock.ts';
import { supervisorCommand, type LegCommand, type SupervisorReport } from './supervisor-protocol.ts';

const POLL_MS = 500;
/** Finding the holder reads all of /proc; not at every try. */
const HOLDER_EVERY = 10;
const ENGINE_END_MS = 5000;

let held: HeldLock | null = null;
let running: { command: RunningCommand } | null = null;
/** Fires once, when this process begins to end. */
const ending = new AbortController();

function report(message: SupervisorReport): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function end(status: number): Promise<void> {
  if (ending.signal.aborted) return;
  ending.abort();
  if (running !== null) {
    running.command.kill();
    // Until the kernel has ended it: nothing of the leg may touch the device once somebody else can lock it. A process stuck in a
    // driver call may never end; the lock is then given up all the same, since holding it for ever helps nobody.
    await Promise.race([running.command.result, new Promise((done) => setTimeout(done, ENGINE_END_MS))]);
  }
  held?.release();
  process.exit(status);
}

async function lock(path: string): Promise<void> {
  let told: string | null | undefined;
  for (let tries = 0; !ending.signal.aborted; tries++) {
    held = tryLock(path);
    if (held !== null) return report({ kind: 'locked' });
    if (tries % HOLDER_EVERY === 0) {
      const holder = describeLockHolder(path);
      if (holder !== told) report({ kind: 'waiting', holder });
      told = holder;
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

async function runLeg(leg: LegCommand): Promise<void> {
  if (held === null) throw new Error('a leg was ordered before the lock was taken');
  const lockHeldBefore = held.stillHeld();
  if (!lockHeldBefore) {
    return report({ kind: 'leg', index: leg.index, lockHeldBefore, lockHeldAfter: held.stillHeld(), lockTakenBy: describeLockHolder(held.path), ran: null });
  }
  const command = startCommand(leg);
  running = { command };
  report({ kind: 'started', index: leg.index, pid: command.pid });
  const ran = await command.result;
  // Killed by `end`: that is no result of the leg.
  if (ending.signal.aborted) return;
  running = null;
  const lockHeldAfter = held.stillHeld();
  report({ kind: 'leg', index: leg.index, lockHeldBefore, lockHeldAfter, lockTakenBy: lockHeldAfter ? null : describeLockHolder(held.path), ran });
}

// The agent's death closes this pipe; the write error must not end the process before the leg is killed.
process.stdout.on('error', () => void end(0));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void end(143));

let queue: Promise<void> = Promise.resolve();
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  queue = queue.then(async () => {
    try {
      const command = supervisorCommand.parse(JSON.parse(line));
      if (command.kind === 'lock') await lock(command.path);
      else await runLeg(command);
    } catch (error) {
      report({ kind: 'fault', message: error instanceof Error ? error.message : String(error) });
      await end(70);
    }
  });
});
lines.on('close', () => void end(0));
