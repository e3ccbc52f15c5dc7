/**
 * Runs one command in a process group of its own, with a time limit, bounded output and nothing left behind.
 *
 * The command gets no descriptor but its pipes: stdin is null, stdout and stderr are read here. When it ends, however it ends, the
 * group is killed and everything that carries its marker is swept.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import { AttemptStopped } from './failure.ts';
import { MARKER_VARIABLE, sweepMarked } from './marker-sweep.ts';
import { OutputCapture } from './output-capture.ts';

const KILL_GRACE_MS = 2000;
const DRAIN_MS = 1000;
const SAMPLE_MS = 100;

export interface CommandSpec {
  argv: readonly string[];
  cwd: string;
  /** The whole environment: nothing is inherited. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Value of FLEET_ATTEMPT; unique to the attempt. */
  marker: string;
}

export interface CommandResult {
  /** Why the command could not be started at all; null once it ran. */
  spawnError: string | null;
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  startedAt: string;
  wallMs: number;
  /** Largest VmHWM seen among the command and its descendants, sampled every 100 ms; null off Linux or for a very short life. */
  vmHwmKiB: number | null;
  /** Major page faults of the command and what it waited for; null off Linux. Exact only while this process runs one command at a time. */
  majorFaults: number | null;
  stdout: string;
  stderr: string;
  /** Bytes that did not fit into the capture. */
  droppedBytes: number;
  /** Processes outside the group that the marker found afterwards. */
  swept: number;
}

export interface RunningCommand {
  pid: number | null;
  result: Promise<CommandResult>;
  /** SIGKILL to the group, at once; nothing once it has ended, since its number may be another's by then. */
  kill: () => void;
}

/** Starts the command. Never throws: a command that cannot start resolves with `spawnError`. */
export function startCommand(spec: CommandSpec): RunningCommand {
  const startedAt = new Date().toISOString();
  const started = performance.now();
  const program = findProgram(spec.argv[0] ?? '', spec.cwd, spec.env['PATH'] ?? '');
  if (program === null) {
    const reason = `command not found: ${spec.argv[0] ?? '(empty)'} (looked in ${spec.cwd} and PATH)`;
    return { pid: null, kill: () => {}, result: Promise.resolve(neverRan(startedAt, reason)) };
  }
  const setpriv = findSetpriv();
  const faultsBefore = readChildMajorFaults();
  // If this process is killed, the kernel kills the command too. The group and marker sweeps of whoever notices do the rest.
  const argv = setpriv === null ? [program, ...spec.argv.slice(1)] : [setpriv, '--pdeathsig', 'KILL', '--', program, ...spec.argv.slice(1)];
  const child = spawn(argv[0]!, argv.slice(1), {
    cwd: spec.cwd,
    env: { ...spec.env, [MARKER_VARIABLE]: spec.marker },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const pid = child.pid ?? null;
  const stdout = new OutputCapture();
  const stderr = new OutputCapture();
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));

  let timedOut = false;
  let over = false;
  let highest: number | null = null;
  const sample = (): void => {
    if (pid === null) return;
    for (const process of withDescendants(pid)) {
      const value = readVmHwmKiB(process);
      if (value !== null && (highest === null || value > highest)) highest = value;
    }
  };
  sample();
  const sampler = setInterval(sample, SAMPLE_MS);
  let graceTimer: NodeJS.Timeout | undefined;
  const limit = setTimeout(() => {
    timedOut = true;
    killGroup(pid, 'SIGTERM');
    graceTimer = setTimeout(() => killGroup(pid, 'SIGKILL'), KILL_GRACE_MS);
  }, spec.timeoutMs);

  const result = new Promise<CommandResult>((settle) => {
    const finish = async (spawnError: string | null, exitCode: number | null, signal: string | null): Promise<void> => {
      const wallMs = performance.now() - started;
      const faultsAfter = readChildMajorFaults();
      const majorFaults = faultsBefore === null || faultsAfter === null ? null : faultsAfter - faultsBefore;
      over = true;
      clearInterval(sampler);
      clearTimeout(limit);
      clearTimeout(graceTimer);
      killGroup(pid, 'SIGKILL');
      const swept = sweepMarked((marker) => marker === spec.marker);
      await drained(child);
      settle({
        spawnError,
        exitCode,
        signal,
        timedOut,
        startedAt,
        wallMs,
        vmHwmKiB: highest,
        majorFaults,
        stdout: stdout.text(),
        stderr: stderr.text(),
        droppedBytes: stdout.droppedBytes + stderr.droppedBytes,
        swept,
      });
    };
    let done = false;
    const once = (spawnError: string | null, exitCode: number | null, signal: string | null): void => {
      if (done) return;
      done = true;
      void finish(spawnError, exitCode, signal);
    };
    child.once('error', (error) => once(error.message, null, null));
    // Not 'close': that waits for every holder of the pipes, and a process that left the group may hold them for ever.
    child.once('exit', (code, signal) => once(null, code, signal));
  });
  return { pid, result, kill: () => (over ? undefined : killGroup(pid, 'SIGKILL')) };
}

/**
 * Waits for a command's end, and kills it when the signal fires.
 * @throws AttemptStopped when the signal fired.
 */
export async function untilEnd(running: RunningCommand, signal: AbortSignal | undefined): Promise<CommandResult> {
  signal?.addEventListener('abort', running.kill);
  if (signal?.aborted === true) running.kill();
  const ended = await running.result;
  signal?.removeEventListener('abort', running.kill);
  if (signal?.aborted === true) throw new AttemptStopped(String(signal.reason));
  return ended;
}

function neverRan(startedAt: string, spawnError: string): CommandResult {
  return {
    spawnError,
    exitCode: null,
    signal: null,
    timedOut: false,
    startedAt,
    wallMs: 0,
    vmHwmKiB: null,
    majorFaults: null,
    stdout: '',
    stderr: '',
    droppedBytes: 0,
    swept: 0,
  };
}

/** Waits until both pipes have ended, one second at most, then closes them. */
async function drained(child: ChildProcessByStdio<null, Readable, Readable>): Promise<void> {
  const streams = [child.stdout, child.stderr];
  const ended = Promise.all(streams.filter((stream) => !stream.closed).map((stream) => new Promise((done) => stream.once('close', done))));
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([ended, new Promise((done) => (timer = setTimeout(done, DRAIN_MS)))]);
  clearTimeout(timer);
  for (const stream of streams) stream.destroy();
}

function killGroup(pid: number | null, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === null) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // the group has no process left
  }
}

/** Full path of a program, searched as execvp would with the command's own PATH and folder; null when there is none. */
function findProgram(name: string, cwd: string, path: string): string | null {
  if (name === '') return null;
  const candidates = isAbsolute(name) || name.includes('/') ? [resolve(cwd, name)] : path.split(delimiter).map((folder) => join(folder, name));
  return candidates.find((candidate) => isExecutable(candidate)) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

let setprivPath: string | null | undefined;
/** setpriv is util-linux; without it (macOS) a killed supervisor leaves the group to the agent's sweep. */
function findSetpriv(): string | null {
  setprivPath ??= process.platform === 'linux' ? findProgram('setpriv', '/', `${process.env['PATH'] ?? ''}${delimiter}/usr/bin${delimiter}/bin`) : null;
  return setprivPath;
}

function withDescendants(root: number): number[] {
  const all = [root];
  for (let index = 0; index < all.length && all.length < 256; index++) {
    try {
      const children = readFileSync(`/proc/${all[index]}/task/${all[index]}/children`, 'utf8').trim();
      if (children !== '') all.push(...children.split(' ').map(Number));
    } catch {
      // ended meanwhile, or a kernel without that file
    }
  }
  return all;
}

/** Major faults of all children that this process has waited for (proc(5): cmajflt), theirs included: it counts what sampling would miss. */
function readChildMajorFaults(): number | null {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The second field is the program's name in parentheses, and may hold spaces.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[10]);
  } catch {
    return null;
  }
}

function readVmHwmKiB(pid: number): number | null {
  try {
    const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line === null ? null : Number(line[1]);
  } catch {
    return null;
  }
}
