/** The real CLI, in a home of its own: `fleet` processes, a service that it starts, and git repositories to submit from. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { driversFolder } from '../../engine/gpu/driver-files.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');
const LAUNCHER = path.join(ROOT, 'coordinator/cli/fleet.mjs');

export interface Done {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of the CLI that may still run. */
export class FleetProcess {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #exited: Promise<number | null>;

  constructor(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, [LAUNCHER, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#exited = once(this.child, 'close').then(([code]) => (typeof code === 'number' ? code : null));
  }

  async done(): Promise<Done> {
    const status = await this.#exited;
    return { status, stdout: this.stdout, stderr: this.stderr };
  }

  async end(signal: NodeJS.Signals): Promise<Done> {
    this.child.kill(signal);
    return this.done();
  }
}

/** Runs a command of the CLI to its end, in this process's own home: for commands that are told the coordinator's URL. */
export function runFleet(args: readonly string[], cwd: string = ROOT): Promise<Done> {
  return new FleetProcess(args, cwd, process.env).done();
}

/** A home folder, and everything that was started in it. */
export class FleetHome {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'fleet-cli-'));
  readonly state = path.join(this.folder, 'state');
  readonly env: NodeJS.ProcessEnv;
  readonly #running: FleetProcess[] = [];

  constructor() {
    const { FLEET_URL: _url, REDIS_URL: _redis, ...inherited } = process.env;
    this.env = { ...inherited, HOME: path.join(this.folder, 'home'), XDG_STATE_HOME: '', FLEET_STATE: this.state, FLEET_DRIVERS: driversFolder() };
    mkdirSync(path.join(this.folder, 'home'));
  }

  /** Runs a command to its end. */
  fleet(args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): Promise<Done> {
    return new FleetProcess(args, options.cwd ?? this.folder, { ...this.env, ...options.env }).done();
  }

  /** Starts a command; `close` ends it if the test did not. */
  start(args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): FleetProcess {
    const started = new FleetProcess(args, options.cwd ?? this.folder, { ...this.env, ...options.env });
    this.#running.push(started);
    return started;
  }

  /** `fleet up` on a free port, until it says where it listens. */
  async up(): Promise<FleetProcess> {
    const up = this.start(['up', '--port', '0']);
    await until('the coordinator listens', () => existsSync(path.join(this.state, 'server.json')) || up.child.exitCode !== null);
    if (up.child.exitCode !== null) throw new Error(`fleet up ended: ${up.stderr}`);
    return up;
  }

  /** `fleet agent` on SwiftShader, until the service knows it. */
  async agent(device: string): Promise<FleetProcess> {
    const agent = this.start(['agent', '--device', device, '--adapter', 'swiftshader', '--agent-state', path.join(this.folder, 'agent'), '--allow-software']);
    await until('the agent is live', async () => (await this.fleet(['devices'])).stdout.includes('idle') || agent.child.exitCode !== null);
    if (agent.child.exitCode !== null) throw new Error(`fleet agent ended: ${agent.stderr}`);
    return agent;
  }

  /** Ends what runs, the newest first, and removes the folder. */
  async close(): Promise<void> {
    for (const started of this.#running.toReversed()) await started.end('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A repository whose only suite prints the lines of `lines.txt`. */
export class LinesRepository {
  readonly directory: string;

  constructor(parent: string) {
    this.directory = path.join(parent, 'lines');
    mkdirSync(this.directory);
    this.git('init', '-q', '-b', 'main');
    const suites = { lines: { kind: 'lines', command: ['cat', 'lines.txt'], cases: [{ name: 'all' }] } };
    writeFileSync(path.join(this.directory, 'fleet.json'), JSON.stringify({ schema: 1, suites }));
  }

  git(...args: string[]): string {
    return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: this.directory, encoding: 'utf8' }).trim();
  }

  /** Commits `lines.txt`. @returns the commit */
  commit(lines: string): string {
    writeFileSync(path.join(this.directory, 'lines.txt'), lines);
    this.git('add', '.');
    this.git('commit', '-q', '-m', lines.split('\n', 1)[0] ?? '', '--allow-empty');
    return this.git('rev-parse', 'HEAD');
  }
}

/** Waits for a condition. @throws Error after `limitMs`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 120_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(100);
  }
}

/** Whether a process is there. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie whose parent has not reaped it yet has ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
