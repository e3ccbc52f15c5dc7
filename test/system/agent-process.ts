/** A real agent process, and the fixture repository that it runs suites of. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { submitResponse, type RunView } from '../../coordinator/protocol/run.ts';
import { CHECKOUT } from './agent-support.ts';
import { call, Repository, runOf, submission, until } from './coordinator-support.ts';

const FIXTURE = join(CHECKOUT, 'test/fixtures/lines-repo');

export interface AgentProcess {
  child: ChildProcess;
  /** Events of one name, as logged so far. */
  events: (name: string) => Record<string, unknown>[];
  stderr: () => string;
  end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<number | null>;
}

/** Spawns agent/main.ts; does not wait for it. */
export function spawnAgent(args: readonly string[], environment: NodeJS.ProcessEnv = {}): AgentProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'agent/main.ts', ...args], {
    cwd: CHECKOUT,
    env: { ...process.env, FLEET_LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return {
    child,
    events: (name) =>
      stderr
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)))
        .filter((line) => line['event'] === name),
    stderr: () => stderr,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
}

export interface Serving {
  url: string;
  device: string;
  /** Part of an adapter's name. */
  adapter: string;
  lock: string;
  state: string;
}

/** Starts an agent and waits until it takes jobs. @throws Error with its stderr when it ends first. */
export async function startAgent({ url, device, adapter, lock, state }: Serving): Promise<AgentProcess> {
  const agent = spawnAgent(['--url', url, '--device', device, '--adapter', adapter, '--lock', lock, '--state', state, '--allow-software']);
  await until(
    'the agent to serve',
    () => {
      if (agent.child.exitCode !== null) throw new Error(`the agent ended with status ${agent.child.exitCode}: ${agent.stderr()}`);
      return agent.events('agent.started').length > 0;
    },
    60_000,
  );
  return agent;
}

/** The lines repository as people have it: two commits, never pushed. `change` edits the runner of the second. */
export function linesRepository(change: (files: Record<string, string>) => Record<string, string>): { repository: Repository; heads: [string, string] } {
  const repository = new Repository();
  const files = Object.fromEntries(readdirSync(FIXTURE).map((name) => [name, readFileSync(join(FIXTURE, name), 'utf8')]));
  const base = repository.commit(files);
  const candidate = repository.commit(change(files));
  return { repository, heads: [base, candidate] };
}

/** Sends the heads and submits them. @returns the run's id. */
export async function submitHeads(url: string, repository: Repository, heads: [string, string], device: string): Promise<string> {
  const sent = await call(url, 'POST', `/api/heads/bundle?head=${heads[0]}&head=${heads[1]}`, repository.bundle('main'));
  if (sent.status !== 200) throw new Error(JSON.stringify(sent.body));
  const reply = await call(url, 'POST', '/api/runs', submission(heads, { devices: [device], allowSoftware: true }));
  return submitResponse.parse(reply.body).run;
}

/** Waits for the whole run. */
export async function finishedRun(url: string, run: string, ms = 90_000): Promise<RunView> {
  return await until(
    `run ${run} to be done`,
    async () => {
      const view = await runOf(url, run);
      return view.done && view;
    },
    ms,
  );
}
