/** Whole runs: real coordinator, Redis, SQLite, agent, supervisor, lock, git and legs. The suite is the lines fixture. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listAdapters } from '../../agent/inventory.ts';
import { findMarked } from '../../agent/marker-sweep.ts';
import { deviceView } from '../../coordinator/protocol/agent.ts';
import { finishedRun, linesRepository, spawnAgent, startAgent, submitHeads, type AgentProcess, type Serving } from './agent-process.ts';
import { canLockByHand, CHECKOUT, Cleanup, endGroup, lockByHand } from './agent-support.ts';
import { call, runOf, startCoordinator, until, type Running } from './coordinator-support.ts';

const shared = new Cleanup();
const cleanup = new Cleanup();
const coordinatorState = shared.folder();
let coordinator: Running;
let adapter: string;

beforeAll(async () => {
  coordinator = await startCoordinator(coordinatorState);
  adapter = (await listAdapters(CHECKOUT))[0]!.name;
});
afterEach(() => cleanup.run());
afterAll(async () => {
  await coordinator?.end('SIGTERM');
  await shared.run();
});

const serving = (device: string, folder = cleanup.folder()): Serving => ({
  url: coordinator.url,
  device,
  adapter,
  lock: join(folder, 'gpu.lock'),
  state: join(folder, 'state'),
});

async function start(where: Serving): Promise<AgentProcess> {
  const agent = await startAgent(where);
  cleanup.add(() => agent.end('SIGTERM'));
  return agent;
}

function repositoryWith(change: Record<string, string>): ReturnType<typeof linesRepository> {
  const made = linesRepository(() => change);
  cleanup.add(() => made.repository.remove());
  return made;
}

/** The candidate's runner differs in a comment only. */
const unchanged = (): ReturnType<typeof linesRepository> => repositoryWith({ 'notes.txt': 'nothing that counts\n' });
/** Both heads take their time. */
const slow = (seconds: number): ReturnType<typeof linesRepository> => {
  const made = linesRepository((files) => ({ ...files, 'notes.txt': 'x\n' }));
  cleanup.add(() => made.repository.remove());
  const base = made.repository.commit({ 'seconds.txt': `${seconds}\n` });
  return { repository: made.repository, heads: [base, made.repository.commit({ 'notes.txt': 'y\n' })] };
};
/** Processes of legs of a run that are alive. */
const alive = (run: string): number[] => findMarked((marker) => marker.includes(`/${run}.`));

describe('a run of two unpushed heads', () => {
  const folder = shared.folder();
  let agent: AgentProcess;
  let where: Serving;
  beforeAll(async () => {
    where = serving('one', folder);
    agent = await startAgent(where);
  });
  afterAll(() => agent?.end('SIGTERM'));

  it('ends in `same` when only times differ, with every leg measured under the lock', async () => {
    const { repository, heads } = unchanged();
    const view = await finishedRun(coordinator.url, await submitHeads(coordinator.url, repository, heads, 'one'));
    const job = view.jobs[0]!;
    expect(job.verdicts[0]).toMatchObject({ verdict: 'same', evidence: 'software' });
    expect(job.verdicts[0]!.lines.flatMap((line) => line.masked)).not.toEqual([]);
    expect(job.legs).toHaveLength(4);
    for (const leg of job.legs) expect(leg.measure).toMatchObject({ outcome: 'executed', exitCode: 0, lockHeldBefore: true, lockHeldAfter: true });
    expect(job.attempts).toMatchObject([{ number: 1, state: 'accepted' }]);
    const log = String((await call(coordinator.url, 'GET', `/api/blobs/${job.legs[0]!.log}`)).body);
    const stdoutBytes = job.legs[0]!.measure!.stdoutBytes!;
    expect(log.slice(0, stdoutBytes)).toMatch(new RegExp(`^SUMMARY ${adapter.replace(/[()]/g, '\\$&')} 3 kernels: 3 pass gates 1-4`));
    expect(log.slice(stdoutBytes)).toContain('noise on stderr');
    await until('an empty spool', () => !existsSync(join(where.state, 'one/spool')) || readdirSync(join(where.state, 'one/spool')).length === 0);
    expect(await canLockByHand(where.lock)).toBe(true);
  });

  it('does not end in `same` when one count changed', async () => {
    const { repository, heads } = linesRepository((files) => ({ 'runner.sh': files['runner.sh']!.replace('passed=21 total=21', 'passed=20 total=21') }));
    cleanup.add(() => repository.remove());
    const view = await finishedRun(coordinator.url, await submitHeads(coordinator.url, repository, heads, 'one'));
    expect(['output-differs', 'new-failure']).toContain(view.jobs[0]!.verdicts[0]!.verdict);
    expect(view.jobs[0]!.verdicts[0]!.lines.filter((line) => line.status === 'differs').map((line) => line.case)).toEqual(['stages']);
  });

  it('waits while somebody holds the lock by hand: says who, and measures nothing', async () => {
    const hand = await lockByHand(cleanup, where.lock, 120);
    const { repository, heads } = unchanged();
    const run = await submitHeads(coordinator.url, repository, heads, 'one');
    const waiting = await until('waiting-lock', async () => (await runOf(coordinator.url, run)).jobs.find((job) => job.state === 'waiting-lock'), 60_000);
    expect(waiting.note).toContain(`flock ${where.lock}`);
    const device = await until('the heartbeat to say so', async () => {
      const devices = z.array(deviceView).parse((await call(coordinator.url, 'GET', '/api/devices')).body);
      return devices.find((one) => one.device === 'one' && one.activity === 'waiting-lock');
    });
    expect(device.note).toContain(`(pid ${hand.pid})`);
    await new Promise((done) => setTimeout(done, 1000));
    const still = (await runOf(coordinator.url, run)).jobs[0]!;
    expect(still).toMatchObject({ state: 'waiting-lock', legs: [{ measure: null }, { measure: null }, { measure: null }, { measure: null }] });
    expect(alive(run)).toEqual([]);
    endGroup(hand);
    expect((await finishedRun(coordinator.url, run)).jobs[0]!.verdicts[0]!.verdict).toBe('same');
  });

  it('is void when somebody takes the lock by hand during a leg: the verdict says who, and nothing is measured after it', async () => {
    const { repository, heads } = slow(3);
    const run = await submitHeads(coordinator.url, repository, heads, 'one');
    await until('the first leg', () => alive(run).length > 0, 60_000);
    rmSync(where.lock);
    const hand = await lockByHand(cleanup, where.lock, 120);
    const job = (await finishedRun(coordinator.url, run)).jobs[0]!;
    const taker = `it is held by flock ${where.lock} sh -c echo held; exec sleep 120 (pid ${hand.pid})`;
    expect(job.verdicts[0]).toMatchObject({ verdict: 'void', effects: [] });
    expect(job.verdicts[0]!.reason).toContain(`the GPU lock was lost while this leg ran; ${taker}`);
    expect(job.legs.map((leg) => leg.measure!.outcome)).toEqual(['void-lock', 'void-lock', 'void-lock', 'void-lock']);
    expect(job.legs.slice(1).map((leg) => leg.measure!.note)).toEqual(Array(3).fill(`the GPU lock was lost before this leg, so it was not started; ${taker}`));
    endGroup(hand);
  });

  it('fails for good, with the command’s words, when a head cannot be prepared', async () => {
    const { repository, heads } = repositoryWith({ 'prepare.sh': 'echo no compiler >&2; exit 9\n' });
    const view = await finishedRun(coordinator.url, await submitHeads(coordinator.url, repository, heads, 'one'));
    expect(view.jobs[0]).toMatchObject({ state: 'failed', verdicts: [{ verdict: 'not-run' }] });
    expect(JSON.stringify(view.jobs[0])).toContain('no compiler');
  });
});

describe('an agent', () => {
  it('killed in the middle of a leg takes the leg with it, frees the lock, and its successor finishes: every leg counts once', async () => {
    const where = serving('two');
    const first = await start(where);
    const { repository, heads } = slow(1.5);
    const run = await submitHeads(coordinator.url, repository, heads, 'two');
    await until('the second leg', () => first.events('leg.started').some((event) => event['leg'] === 1), 60_000);
    await until('its process', () => alive(run).length > 0);
    await first.end('SIGKILL');
    await until('the leg to end', () => alive(run).length === 0, 10_000);
    await until('the lock to be free', () => canLockByHand(where.lock), 10_000);

    await start(where);
    const job = (await finishedRun(coordinator.url, run)).jobs[0]!;
    expect(job.acceptedAttempt).toBe(2);
    expect(job.attempts.map(({ number, state }) => [number, state])).toEqual([
      [1, 'superseded'],
      [2, 'accepted'],
    ]);
    expect(job.legs.map((leg) => leg.index)).toEqual([0, 1, 2, 3]);
    for (const leg of job.legs) expect(leg.measure).toMatchObject({ outcome: 'executed' });
    expect(job.verdicts[0]!.verdict).toBe('same');
  });

  it('told to stop gives the job back at once, and whoever comes next runs it', async () => {
    const where = serving('three');
    const first = await start(where);
    const { repository, heads } = slow(1.5);
    const run = await submitHeads(coordinator.url, repository, heads, 'three');
    await until('a leg', () => alive(run).length > 0, 60_000);
    expect(await first.end('SIGTERM')).toBe(0);
    expect(alive(run)).toEqual([]);
    expect(await canLockByHand(where.lock)).toBe(true);
    const between = (await runOf(coordinator.url, run)).jobs[0]!;
    expect(between.state).toBe('queued');
    expect(between.legs.every((leg) => leg.measure === null)).toBe(true);
    await start(where);
    expect((await finishedRun(coordinator.url, run)).jobs[0]).toMatchObject({ acceptedAttempt: 2, verdicts: [{ verdict: 'same' }] });
  });

  it('posts at its next start what it measured while the coordinator was away, and repeats nothing twice', async () => {
    const where = serving('four');
    const first = await start(where);
    const { repository, heads } = slow(1.5);
    const run = await submitHeads(coordinator.url, repository, heads, 'four');
    await until('the first leg', () => first.events('leg.started').length > 0, 60_000);
    await coordinator.end('SIGKILL');
    const spool = join(where.state, 'four/spool', `${run}.four.gates`, '1');
    await until('the whole series in the spool', () => first.events('leg.ended').length === 4, 60_000);
    await first.end('SIGKILL');
    expect(readdirSync(spool).toSorted()).toEqual(['0.json', '1.json', '2.json', '3.json']);

    coordinator = await startCoordinator(coordinatorState);
    const second = await start({ ...where, url: coordinator.url });
    const job = (await finishedRun(coordinator.url, run)).jobs[0]!;
    expect(job).toMatchObject({ acceptedAttempt: 1, verdicts: [{ verdict: 'same' }] });
    // The run is over once the last leg is stored, which is before the agent has heard so.
    const posted = (): unknown[] => second.events('spool.posted').filter((event) => event['attempt'] === 1);
    await until('the agent to hear that all is posted', () => posted().length >= 4 && !existsSync(spool), 60_000);
    expect(posted()).toHaveLength(4);
  });

  it('ends when another process takes its device over', async () => {
    const where = serving('five');
    const first = await start(where);
    await start(serving('five'));
    const status = await until('the first to end', () => first.child.exitCode !== null && { status: first.child.exitCode }, 20_000);
    expect(status).toEqual({ status: 0 });
    expect(first.events('agent.superseded')).toHaveLength(1);
  });
});

describe('an agent that cannot serve says so in one line', () => {
  const failing = async (args: string[]): Promise<{ status: number | null; stderr: string }> => {
    const agent = spawnAgent(args, { FLEET_LOG_LEVEL: 'silent' });
    const status = await until('its end', () => agent.child.exitCode !== null && { code: agent.child.exitCode }, 60_000);
    return { status: status.code, stderr: agent.stderr() };
  };

  it('no such adapter', async () => {
    const { status, stderr } = await failing(['--url', coordinator.url, '--device', 'six', '--adapter', 'Quadro', '--allow-software']);
    expect(status).toBe(5);
    expect(stderr).toMatch(/^agent: no adapter matches "Quadro": found "[^\n]+ next: fleet engine devices --allow-software\n$/);
  });

  it('no coordinator', async () => {
    const folder = cleanup.folder();
    const { status, stderr } = await failing(['--url', 'http://127.0.0.1:9', '--device', 'six', '--adapter', adapter, '--allow-software', '--state', folder]);
    expect(status).toBe(5);
    expect(stderr).toMatch(/^agent: http:\/\/127\.0\.0\.1:9 does not answer: [^\n]+ next: start the coordinator there: fleet up\n$/);
  });

  it('wrong usage', async () => {
    const { status, stderr } = await failing(['--url', coordinator.url]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^agent: --url, --device and --adapter are needed\. next: [^\n]+\n$/);
  });
});
