/** What a coordinator survives: Redis killed or emptied, itself killed, agents killed. Queues are read with a real BullMQ worker. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'bullmq';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SubmitResponse } from '../../coordinator/protocol/run.ts';
import {
  call,
  claim,
  finishedJob,
  postLeg,
  register,
  Repository,
  runOf,
  sendTwoHeads,
  startCoordinator,
  submission,
  temporaryFolder,
  until,
  type Running,
} from './coordinator-support.ts';

let state: string;
let repository: Repository;
let coordinator: Running;
let workers: Worker[];

beforeEach(async () => {
  state = temporaryFolder();
  repository = new Repository();
  workers = [];
  coordinator = await startCoordinator(state);
});
afterEach(async () => {
  for (const worker of workers) await worker.close(true);
  await coordinator.end('SIGTERM');
  rmSync(state, { recursive: true, force: true });
  repository.remove();
});

/** A worker of a device's queue as an agent has it. `taken` lists the jobs that it was handed; it works on each until told otherwise. */
function serve(queue: { queue: string; redis: string }, work: (job: string) => Promise<void>): { taken: string[]; worker: Worker } {
  const taken: string[] = [];
  const worker = new Worker(
    queue.queue,
    async (carried) => {
      const { job } = carried.data as { job: string };
      taken.push(job);
      await work(job);
    },
    { connection: { url: queue.redis, maxRetriesPerRequest: null, retryStrategy: () => 250 }, skipStalledCheck: true, lockDuration: 15_000 },
  );
  worker.on('error', () => {});
  workers.push(worker);
  return { taken, worker };
}
const forever = (): Promise<void> => new Promise(() => {});

async function submitTo(device: string): Promise<SubmitResponse> {
  const reply = await call(coordinator.url, 'POST', '/api/runs', submission(await sendTwoHeads(coordinator.url, repository), { devices: [device] }));
  expect(reply.status).toBe(201);
  return reply.body as SubmitResponse;
}

it('carries a submitted job to the worker of its device, which can finish it', async () => {
  const { url } = coordinator;
  const queue = await register(url, 'b60', 'agent-one');
  expect(queue.queue).toBe('dev-b60');
  const { run } = await submitTo('b60');
  serve(queue, async (job) => {
    const spec = await claim(url, job, 'b60', 'agent-one');
    for (const leg of spec.legs) await postLeg(url, spec, leg.index, 'same\n');
  });
  expect((await finishedJob(url, run)).verdicts[0]!.verdict).toBe('same');
});

it('rebuilds the queue when Redis is killed and its data is gone', async () => {
  const queue = await register(coordinator.url, 'b60', 'agent-one');
  const { jobs } = await submitTo('b60');
  const killed = coordinator.redisPid();
  process.kill(killed, 'SIGKILL');
  rmSync(join(state, 'redis', 'appendonlydir'), { recursive: true, force: true });
  await until('another redis-server', () => coordinator.redisPid() !== killed);
  await until('the job to be enqueued again', () => coordinator.logged('queue.requeued') > 0);
  const { taken } = serve(queue, forever);
  await until('the job to be handed out', () => taken.length > 0);
  expect(taken).toEqual([jobs[0]!.job]);
});

it('takes submissions while Redis does not answer, says so, and carries them once it does', async () => {
  const queue = await register(coordinator.url, 'b60', 'agent-one');
  const heads = await sendTwoHeads(coordinator.url, repository);
  const redis = coordinator.redisPid();
  process.kill(redis, 'SIGSTOP');
  let job: string;
  try {
    const reply = await call(coordinator.url, 'POST', '/api/runs', submission(heads, { devices: ['b60'] }));
    expect(reply.status).toBe(201);
    job = (reply.body as SubmitResponse).jobs[0]!.job;
    expect(await call(coordinator.url, 'GET', '/readyz')).toMatchObject({
      status: 503,
      body: { error: { code: 'unavailable', message: expect.stringContaining('Redis does not answer') } },
    });
  } finally {
    process.kill(redis, 'SIGCONT');
  }
  const { taken } = serve(queue, forever);
  await until('the job to be handed out', () => taken.length > 0, 45_000);
  expect(taken[0]).toBe(job);
});

it('keeps the queue when Redis is only killed', async () => {
  const queue = await register(coordinator.url, 'b60', 'agent-one');
  const { jobs } = await submitTo('b60');
  // appendfsync everysec: what is older than a second is on disk.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const killed = coordinator.redisPid();
  process.kill(killed, 'SIGKILL');
  await until('another redis-server', () => coordinator.redisPid() !== killed);
  const { taken } = serve(queue, forever);
  await until('the job to be handed out', () => taken.length > 0);
  expect(taken).toEqual([jobs[0]!.job]);
  expect(coordinator.logged('queue.requeued')).toBe(0);
});

it('enqueues a job again whose BullMQ job ended while SQLite has it unfinished', async () => {
  const queue = await register(coordinator.url, 'b60', 'agent-one');
  const { jobs } = await submitTo('b60');
  const first = serve(queue, async () => {});
  await until('the job to be taken and dropped', () => first.taken.length === 1);
  await coordinator.end('SIGTERM');
  coordinator = await startCoordinator(state);
  const again = await register(coordinator.url, 'b60', 'agent-one');
  expect(again.redis).toBe(queue.redis);
  await until('the job to be handed out again', () => first.taken.length === 2);
  expect(first.taken[1]).toBe(jobs[0]!.job);
});

it('keeps runs, attempts and tokens when it is killed itself, and leaves no redis-server behind', async () => {
  await register(coordinator.url, 'b60', 'agent-one');
  const { run, jobs } = await submitTo('b60');
  const spec = await claim(coordinator.url, jobs[0]!.job, 'b60', 'agent-one');
  await postLeg(coordinator.url, spec, 0, 'same\n');
  const before = await runOf(coordinator.url, run);
  const redis = coordinator.redisPid();
  await coordinator.end('SIGKILL');
  await until('its redis-server to end', () => !isAlive(redis));

  coordinator = await startCoordinator(state);
  const after = await runOf(coordinator.url, run);
  expect(after).toMatchObject({ seal: before.seal, arms: before.arms, coverage: expect.any(Array) });
  expect(after.jobs[0]!.legs[0]).toEqual(before.jobs[0]!.legs[0]);
  expect((await postLeg(coordinator.url, spec, 0, 'same\n')).body).toEqual({ accepted: false, duplicate: true });
  for (const index of [1, 2, 3]) await postLeg(coordinator.url, spec, index, 'same\n');
  expect((await finishedJob(coordinator.url, run)).verdicts[0]!.verdict).toBe('same');
});

it('judges at its start what was accepted and not judged', async () => {
  await register(coordinator.url, 'b60', 'agent-one');
  const { run, jobs } = await submitTo('b60');
  const spec = await claim(coordinator.url, jobs[0]!.job, 'b60', 'agent-one');
  for (const leg of spec.legs) await postLeg(coordinator.url, spec, leg.index, 'same\n');
  await finishedJob(coordinator.url, run);
  await coordinator.end('SIGTERM');
  // Put the clock back to between the two transactions.
  const { default: Database } = await import('better-sqlite3');
  const file = new Database(join(state, 'fleet.sqlite'));
  file.exec('DROP TRIGGER verdicts_sealed_delete');
  file.exec("DELETE FROM verdicts; UPDATE jobs SET state = 'running'");
  file.close();
  coordinator = await startCoordinator(state);
  expect((await finishedJob(coordinator.url, run)).verdicts[0]!.verdict).toBe('same');
});

it('hands a dead agent’s job to the next agent of the device at once', async () => {
  const { url } = coordinator;
  const queue = await register(url, 'b60', 'agent-dead');
  const { run, jobs } = await submitTo('b60');
  let claimed = false;
  const dead = serve(queue, async (job) => {
    await claim(url, job, 'b60', 'agent-dead');
    claimed = true;
    await forever();
  });
  await until('the first agent’s claim', () => claimed);
  await dead.worker.close(true);

  const next = await register(url, 'b60', 'agent-next');
  expect((await runOf(url, run)).jobs[0]).toMatchObject({ state: 'queued', note: expect.stringContaining('another agent') });
  serve(next, async (job) => {
    const spec = await claim(url, job, 'b60', 'agent-next');
    expect(spec.attempt).toBe(2);
    for (const leg of spec.legs) await postLeg(url, spec, leg.index, 'same\n');
  });
  const job = await finishedJob(url, run);
  expect(job.job).toBe(jobs[0]!.job);
  expect(job.attempts.map((attempt) => attempt.state)).toEqual(['superseded', 'accepted']);
  // Not by the stall check, which waits for a lock of 15 s to run out.
  expect(coordinator.logged('queue.stalled')).toBe(0);
});

it('gives a stalled job back to its queue when the agent died and nobody registered anew', async () => {
  const queue = await register(coordinator.url, 'b60', 'agent-dead');
  const { jobs } = await submitTo('b60');
  const dead = serve(queue, forever);
  await until('the job to be taken', () => dead.taken.length > 0);
  await dead.worker.close(true);
  await until('the stall check to find it', () => coordinator.logged('queue.stalled') > 0, 40_000);
  const next = serve(queue, forever);
  await until('the job to be handed out again', () => next.taken.length > 0);
  expect(next.taken).toEqual([jobs[0]!.job]);
});

it('hands out at once a job that the last agent took and never claimed', async () => {
  const queue = await register(coordinator.url, 'b60', 'agent-dead');
  const { jobs } = await submitTo('b60');
  const dead = serve(queue, forever);
  await until('the job to be taken', () => dead.taken.length > 0);
  await dead.worker.close(true);
  const next = serve(await register(coordinator.url, 'b60', 'agent-next'), forever);
  await until('the job to be handed out again', () => next.taken.length > 0);
  expect(next.taken).toEqual([jobs[0]!.job]);
  expect(coordinator.logged('queue.stalled')).toBe(0);
});

it('refuses to start when redis-server is absent, with the commands that install it', async () => {
  const other = temporaryFolder();
  const { execFileSync } = await import('node:child_process');
  const { mkdirSync, symlinkSync } = await import('node:fs');
  const bin = join(other, 'bin');
  mkdirSync(bin);
  for (const name of ['git', 'flock']) symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(bin, name));
  await expect(startCoordinator(join(other, 'state'), { PATH: bin })).rejects.toThrow(
    /exit 5: fleet coordinator: redis-server is not installed.*apt-get install redis-server.*dnf install redis.*brew install redis/,
  );
  rmSync(other, { recursive: true, force: true });
});

it('refuses to start when REDIS_URL does not answer', async () => {
  const other = temporaryFolder();
  await expect(startCoordinator(other, { REDIS_URL: 'redis://127.0.0.1:1' })).rejects.toThrow(
    /exit 5: fleet coordinator: Redis at 127\.0\.0\.1:1 does not answer/,
  );
  rmSync(other, { recursive: true, force: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
