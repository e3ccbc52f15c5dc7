/** Real processes around the agent's parts: lock holders, a supervisor, and ways to look at what is alive. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readlinkSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Supervisor } from '../../agent/supervisor-client.ts';
import { until } from './coordinator-support.ts';

export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Undo what a test acquired, last first; call from afterEach. */
export class Cleanup {
  private readonly steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.steps.push(step);
  }

  folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'fleet-agent-'));
    this.add(() => rmSync(path, { recursive: true, force: true }));
    return path;
  }

  async run(): Promise<void> {
    for (const step of this.steps.splice(0).toReversed()) await step();
  }
}

/** A person's `flock FILE sleep SECONDS`, holding the lock when this resolves. Its group is killed in cleanup. */
export async function lockByHand(cleanup: Cleanup, file: string, seconds: number): Promise<ChildProcess> {
  const child = spawn('flock', [file, 'sh', '-c', `echo held; exec sleep ${seconds}`], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  cleanup.add(() => endGroup(child));
  await new Promise<void>((done) => child.stdout.once('data', () => done()));
  return child;
}

export function endGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** Whether `flock -n FILE true`, as typed by hand, gets in. */
export async function canLockByHand(file: string): Promise<boolean> {
  const child = spawn('flock', ['-n', file, 'true'], { stdio: 'ignore' });
  return (await new Promise((done) => child.once('exit', done))) === 0;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** What a process's descriptors point to. */
export function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

let markers = 0;

export interface Held {
  supervisor: Supervisor;
  marker: string;
  /** Pid of the leg that started last. */
  pid: () => number | null;
  /** Runs `sh -c script` as a leg. */
  leg: (script: string, more?: { timeoutMs?: number; env?: Record<string, string> }) => ReturnType<Supervisor['runLeg']>;
}

/** A supervisor that holds `lock`. */
export async function holdingSupervisor(cleanup: Cleanup, lock: string): Promise<Held> {
  const marker = `test-${process.pid}/${markers++}`;
  let pid: number | null = null;
  const supervisor = Supervisor.start({ checkout: CHECKOUT, job: 'r0000000000.b60.gates', marker, onStarted: (_, started) => (pid = started) });
  cleanup.add(() => supervisor.close());
  await supervisor.lock(lock, () => {});
  const env = { PATH: process.env['PATH']! };
  return {
    supervisor,
    marker,
    pid: () => pid,
    leg: (script, more = {}) => {
      pid = null;
      return supervisor.runLeg({
        index: 0,
        argv: ['sh', '-c', script],
        cwd: tmpdir(),
        env: { ...env, ...more.env },
        timeoutMs: more.timeoutMs ?? 20_000,
        marker,
      });
    },
  };
}

/** Waits until a started leg has a pid. */
export async function legPid(held: Held): Promise<number> {
  return await until('the leg to start', () => held.pid());
}
