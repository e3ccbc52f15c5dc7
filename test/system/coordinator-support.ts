/** A real coordinator process, a real git repository to submit from, and HTTP as an agent and a submitter speak it. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import type { JobSpec, LegPost } from '../../coordinator/protocol/agent.ts';
import type { JobView, RunView, SubmitRequest } from '../../coordinator/protocol/run.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'fleet-coordinator-'));
}

export interface Running {
  readonly url: string;
  readonly child: ChildProcess;
  /** Process id of the redis-server that it started last. */
  redisPid(): number;
  /** How often an event was logged. */
  logged(event: string): number;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

const SILENT = { REDIS_URL: '', FLEET_LOG_LEVEL: 'info' };

/** Starts coordinator/main.ts and waits for its line. @throws Error with its stderr when it ends first. */
export async function startCoordinator(state: string, environment: NodeJS.ProcessEnv = {}): Promise<Running> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'coordinator/main.ts', '--state', state, '--port', '0'], {
    cwd: ROOT,
    env: { ...process.env, ...SILENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const url = await new Promise<string>((resolve, reject) => {
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const line = /fleet coordinator: (\S+) /.exec(stdout);
      if (line?.[1]) resolve(line[1]);
    });
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${stderr}`)));
  });
  const events = (): { event?: string; redisPid?: number }[] =>
    stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as { event?: string; redisPid?: number });
  return {
    url,
    child,
    redisPid: () => events().findLast((line) => line.event === 'redis.started')!.redisPid!,
    logged: (event) => events().filter((line) => line.event === event).length,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, 'exit');
      child.kill(signal);
      return (await exited)[0] as number | null;
    },
  };
}

export interface Reply {
  readonly status: number;
  // eslint-disable-next-line typescript/no-explicit-any -- each caller asserts on the keys it reads
  readonly body: any;
}

/** One request with the header that changes need. */
export async function call(url: string, method: string, path: string, body?: unknown, token?: string): Promise<Reply> {
  const binary = body instanceof Uint8Array;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-fleet': '1', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    ...(body === undefined ? {} : { body: binary ? Buffer.from(body) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text };
}

/** A repository that people would submit from. */
export class Repository {
  readonly path = temporaryFolder();

  constructor() {
    this.git('init', '--quiet', '--initial-branch=main');
  }

  git(...args: string[]): string {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgsign=false'];
    return execFileSync('git', [...identity, ...args], { cwd: this.path, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  /** Commits files (null removes one). @returns the commit. */
  commit(files: Record<string, string>): string {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true });
      writeFileSync(join(this.path, name), text);
    }
    this.git('add', '--all');
    this.git('commit', '--quiet', '--allow-empty', '--message', 'change the runner');
    return this.git('rev-parse', 'HEAD');
  }

  bundle(...args: string[]): Buffer {
    return execFileSync('git', ['bundle', 'create', '--quiet', '-', ...args], { cwd: this.path, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A manifest with one suite of printed lines, two cases. */
export const LINES_MANIFEST = JSON.stringify({
  schema: 1,
  suites: {
    gates: {
      kind: 'lines',
      command: ['sh', 'run.sh'],
      cases: [
        { name: 'small', args: ['1'] },
        { name: 'large', args: ['2'] },
      ],
    },
  },
});

/** Commits two heads, sends both as one bundle. @returns baseline and candidate. */
export async function sendTwoHeads(url: string, repository: Repository, manifest = LINES_MANIFEST): Promise<[string, string]> {
  const base = repository.commit({ 'fleet.json': manifest, 'run.sh': 'echo one\n' });
  const candidate = repository.commit({ 'run.sh': 'echo two\n' });
  const sent = await call(url, 'POST', `/api/heads/bundle?head=${base}&head=${candidate}`, repository.bundle('main'));
  if (sent.status !== 200) throw new Error(`bundle: ${JSON.stringify(sent.body)}`);
  return [base, candidate];
}

/** What the tests of one file have in common. */
export interface Scene {
  readonly state: string;
  readonly repository: Repository;
  coordinator: Running;
  /** Baseline and candidate. */
  heads: [string, string];
  readonly url: string;
}

/**
 * A coordinator that has two heads of a repository, from before the first test of a file until after the last.
 * @param serves a device that is registered and heard of all the while.
 */
export function scene(manifest: string, serves?: string): Scene {
  const at = {
    state: temporaryFolder(),
    repository: new Repository(),
    get url() {
      return this.coordinator.url;
    },
  } as Scene;
  let stopServing = (): void => {};
  beforeAll(async () => {
    at.coordinator = await startCoordinator(at.state);
    at.heads = await sendTwoHeads(at.url, at.repository, manifest);
    if (serves === undefined) return;
    await register(at.url, serves, 'agent-one');
    stopServing = keepServing(() => at.url, serves, 'agent-one');
  });
  afterAll(async () => {
    stopServing();
    await at.coordinator?.end('SIGTERM');
    rmSync(at.state, { recursive: true, force: true });
    at.repository.remove();
  });
  return at;
}

let keys = 0;
export function submission([base, candidate]: readonly [string, string], more: Partial<SubmitRequest> = {}): Partial<SubmitRequest> {
  return {
    arms: [
      { label: 'base', head: base, settings: {} },
      { label: 'candidate', head: candidate, settings: {} },
    ],
    key: `key-${process.pid}-${keys++}`,
    ...more,
  };
}

/** Registers as an agent process does. */
export async function register(url: string, device: string, agent: string, evidence: 'gpu' | 'software' = 'gpu'): Promise<{ queue: string; redis: string }> {
  const reply = await call(url, 'POST', `/api/devices/${device}/register`, {
    agent,
    adapter: 'Test GPU',
    driver: 'driver 1',
    evidence,
    lockPath: '/tmp/gpu.lock',
    host: 'host',
    pid: 1,
  });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body as { queue: string; redis: string };
}

/** Heartbeats of a registered agent that has nothing to do, as often as an agent sends them: without, its device is away after 15 s. @returns what ends them. */
export function keepServing(url: () => string, device: string, agent: string): () => void {
  const beat = { agent, activity: 'idle', job: null, leg: null, lockHolder: null };
  // A beat that is missed while a coordinator restarts is made up by the next.
  const timer = setInterval(() => void call(url(), 'POST', `/api/devices/${device}/heartbeat`, beat).catch(() => {}), 3000);
  return () => clearInterval(timer);
}

/** What an agent would post for a leg that printed `stdout`. */
export function legPost(stdout: string, more: Partial<LegPost['measure']> = {}): LegPost {
  return {
    measure: {
      outcome: 'executed',
      exitCode: 0,
      signal: null,
      startedAt: '2026-11-29T12:00:00.000Z',
      wallMs: 12,
      vmHwmKiB: 1000,
      lockHeldBefore: true,
      lockHeldAfter: true,
      note: '',
      stdoutBytes: Buffer.byteLength(stdout),
      ...more,
    },
    records: null,
    log: stdout,
  };
}

export async function claim(url: string, job: string, device: string, agent: string): Promise<JobSpec> {
  const reply = await call(url, 'POST', `/api/jobs/${job}/claim`, { device, agent });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body as JobSpec;
}

export function postLeg(url: string, spec: JobSpec, index: number, stdout: string): Promise<Reply> {
  return call(url, 'PUT', `/api/jobs/${spec.job}/attempts/${spec.attempt}/legs/${index}`, legPost(stdout), spec.token);
}

/** Waits until something holds. @throws Error with `what` after `ms`. */
export async function until<T>(what: string, look: () => Promise<T | null | undefined | false> | T | null | undefined | false, ms = 20_000): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function runOf(url: string, id: string): Promise<RunView> {
  return (await call(url, 'GET', `/api/runs/${id}`)).body as RunView;
}

/** Waits until the run's only job is judged or failed. */
export async function finishedJob(url: string, run: string): Promise<JobView> {
  return until('the job to be finished', async () => {
    const view = await runOf(url, run);
    return view.done && view.jobs[0];
  });
}
