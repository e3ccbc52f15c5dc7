/** The coordinator as a process: real SQLite, real Redis, real git; the test speaks HTTP as submitters and agents do. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runView, submitResponse, type SubmitResponse } from '../../coordinator/protocol/run.ts';
import { jobSpec } from '../../coordinator/protocol/agent.ts';
import {
  call,
  claim,
  finishedJob,
  legPost,
  postLeg,
  register,
  Repository,
  runOf,
  sendTwoHeads,
  startCoordinator,
  submission,
  temporaryFolder,
  type Running,
} from './coordinator-support.ts';

const state = temporaryFolder();
const repository = new Repository();
let coordinator: Running;
let heads: [string, string];

beforeAll(async () => {
  coordinator = await startCoordinator(state);
  heads = await sendTwoHeads(coordinator.url, repository);
});
afterAll(async () => {
  await coordinator?.end('SIGTERM');
  rmSync(state, { recursive: true, force: true });
  repository.remove();
});

async function submit(device: string): Promise<SubmitResponse> {
  const reply = await call(coordinator.url, 'POST', '/api/runs', submission(heads, { devices: [device] }));
  expect(reply.body).toMatchObject({ run: expect.any(String) });
  return submitResponse.parse(reply.body);
}

describe('a run', () => {
  it('goes from submission over claim and legs to a verdict', async () => {
    const { url } = coordinator;
    await register(url, 'b60', 'agent-one');
    const { run, jobs, url: page } = await submit('b60');
    expect(page).toBe(`${url}/runs/${run}`);
    expect(jobs).toEqual([{ job: `${run}.b60.gates`, device: 'b60', suite: 'gates' }]);

    const spec = jobSpec.parse(await claim(url, jobs[0]!.job, 'b60', 'agent-one'));
    expect(spec.attempt).toBe(1);
    expect(spec.legs.map((leg) => [leg.index, leg.head === heads[0] ? 'base' : 'candidate', leg.case, leg.args])).toEqual([
      [0, 'base', 'small', ['1']],
      [1, 'candidate', 'small', ['1']],
      [2, 'base', 'large', ['2']],
      [3, 'candidate', 'large', ['2']],
    ]);
    expect(spec.heads.map((item) => item.head)).toEqual(heads);

    const at = `/api/jobs/${spec.job}/attempts/1`;
    expect(await call(url, 'POST', `${at}/state`, { state: 'waiting-lock', note: 'held by ada' }, spec.token)).toMatchObject({ status: 200 });
    expect((await runOf(url, run)).jobs[0]).toMatchObject({ state: 'waiting-lock', note: 'held by ada' });
    await call(url, 'POST', `${at}/state`, { state: 'running', note: '' }, spec.token);
    for (const index of [0, 1, 2]) expect((await postLeg(url, spec, index, '5 pass gates\n')).body).toEqual({ accepted: false, duplicate: false });
    expect((await postLeg(url, spec, 3, '4 pass gates\n')).body).toEqual({ accepted: true, duplicate: false });

    const job = await finishedJob(url, run);
    expect(job).toMatchObject({ state: 'judged', acceptedAttempt: 1 });
    expect(job.verdicts).toHaveLength(1);
    expect(job.verdicts[0]).toMatchObject({ device: 'b60', suite: 'gates', candidate: 'candidate', evidence: 'gpu', verdict: 'output-differs' });
    expect(job.verdicts[0]!.lines).toContainEqual(
      expect.objectContaining({ case: 'large', status: 'differs', baseline: expect.stringContaining('5'), candidate: expect.stringContaining('4') }),
    );

    const view = runView.parse(await runOf(url, run));
    expect(view.coverage).toContainEqual({ device: 'b60', suite: 'gates', arm: 'candidate', status: 'measured', note: '' });
    const log = await call(url, 'GET', `/api/blobs/${view.jobs[0]!.legs[3]!.log}`);
    expect(log).toEqual({ status: 200, body: '4 pass gates\n' });
    expect((await call(url, 'GET', `/api/runs/${run}/report`)).body).toContain('output-differs');
    expect((await call(url, 'POST', `/api/jobs/${spec.job}/claim`, { device: 'b60', agent: 'agent-one' })).body.error.code).toBe('gone');
  });

  it('is sealed: the hash is that of the stored text, which names rule, heads, cases and order', async () => {
    await register(coordinator.url, 'sealed', 'agent-seal');
    const view = await runOf(coordinator.url, (await submit('sealed')).run);
    const { createHash } = await import('node:crypto');
    expect(view.seal.sha256).toBe(createHash('sha256').update(view.seal.text).digest('hex'));
    const sealed = JSON.parse(view.seal.text) as { rule: unknown; arms: { head: string }[]; suites: { order: unknown[]; pinnedIds: unknown }[] };
    expect(sealed.rule).toEqual(view.rule);
    expect(sealed.arms.map((arm) => arm.head)).toEqual(heads);
    expect(sealed.suites[0]!.order).toEqual(view.jobs[0]!.legs.map(({ index, arm, case: name, pair }) => ({ index, arm, case: name, pair })));
  });

  it('is made once for a key, and a key is good for one submission', async () => {
    await register(coordinator.url, 'keyed', 'agent-key');
    const request = submission(heads, { devices: ['keyed'] });
    const first = await call(coordinator.url, 'POST', '/api/runs', request);
    expect((await call(coordinator.url, 'POST', '/api/runs', request)).body).toEqual(first.body);
    expect(await call(coordinator.url, 'POST', '/api/runs', { ...request, pairs: 4 })).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  });
});

describe('an agent that ends in order', () => {
  it('says so: its device is stopped, and no submission counts on it', async () => {
    const { url } = coordinator;
    await register(url, 'going', 'agent-going', 'software');
    const beat = (activity: string, agent = 'agent-going') =>
      call(url, 'POST', '/api/devices/going/heartbeat', { agent, activity, job: null, leg: null, lockHolder: null });
    const seen = async () => ((await call(url, 'GET', '/api/devices')).body as { device: string }[]).find((item) => item.device === 'going');
    expect((await beat('stopped', 'another-agent')).body.superseded).toBe(true);
    expect(await seen()).toMatchObject({ live: true, activity: 'idle' });
    await beat('stopped');
    const start = 'fleet agent --device going --adapter "Test GPU" --allow-software';
    expect(await seen()).toMatchObject({
      live: false,
      activity: 'stopped',
      note: expect.stringMatching(new RegExp(`^stopped at .*; start it with: ${start}$`)),
    });
    const refused = await call(url, 'POST', '/api/runs', submission(heads, { devices: ['going'], allowSoftware: true }));
    expect(refused.body.error).toMatchObject({ code: 'unknown-device', next: `start one on its host: ${start}` });
    await register(url, 'going', 'agent-again', 'software');
    expect(await seen()).toMatchObject({ live: true, activity: 'idle', note: '' });
  });

  it('is not shown at a job that was judged', async () => {
    const { url } = coordinator;
    await register(url, 'done', 'agent-done');
    const { jobs, run } = await submit('done');
    const spec = await claim(url, jobs[0]!.job, 'done', 'agent-done');
    await call(url, 'POST', '/api/devices/done/heartbeat', { agent: 'agent-done', activity: 'running', job: spec.job, leg: 3, lockHolder: null });
    for (const index of [0, 1, 2, 3]) await postLeg(url, spec, index, 'a\n');
    await finishedJob(url, run);
    const devices = (await call(url, 'GET', '/api/devices')).body as { device: string }[];
    expect(devices.find((item) => item.device === 'done')).toMatchObject({ live: true, activity: 'idle', job: null, note: '' });
  });
});

describe('legs', () => {
  it('count once: a repeat is a no-op, another result for the same leg conflicts', async () => {
    const { url } = coordinator;
    await register(url, 'once', 'agent-once');
    const { jobs, run } = await submit('once');
    const spec = await claim(url, jobs[0]!.job, 'once', 'agent-once');
    expect((await postLeg(url, spec, 0, 'a\n')).body).toEqual({ accepted: false, duplicate: false });
    expect((await postLeg(url, spec, 0, 'a\n')).body).toEqual({ accepted: false, duplicate: true });
    expect(await postLeg(url, spec, 0, 'b\n')).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    for (const index of [1, 2, 3]) await postLeg(url, spec, index, 'a\n');
    expect((await postLeg(url, spec, 3, 'a\n')).body).toEqual({ accepted: true, duplicate: true });
    expect((await finishedJob(url, run)).verdicts[0]!.verdict).toBe('same');
  });

  it('are refused without the token of the very attempt, and beyond the plan', async () => {
    const { url } = coordinator;
    await register(url, 'token', 'agent-token');
    const { jobs } = await submit('token');
    const spec = await claim(url, jobs[0]!.job, 'token', 'agent-token');
    const leg = `/api/jobs/${spec.job}/attempts/1/legs/0`;
    expect((await call(url, 'PUT', leg, legPost('a'))).status).toBe(403);
    expect((await call(url, 'PUT', leg, legPost('a'), `${spec.token}x`)).status).toBe(403);
    const second = await claim(url, jobs[0]!.job, 'token', 'agent-token');
    expect((await call(url, 'PUT', `/api/jobs/${spec.job}/attempts/2/legs/0`, legPost('a'), spec.token)).status).toBe(403);
    expect(await postLeg(url, second, 4, 'a')).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('legs 0 to 3') } } });
  });
});

describe('attempts', () => {
  it('the first to complete is the job’s, even a superseded one; the other is kept and does not count', async () => {
    const { url } = coordinator;
    await register(url, 'fence', 'agent-old');
    const { jobs, run } = await submit('fence');
    const old = await claim(url, jobs[0]!.job, 'fence', 'agent-old');
    await postLeg(url, old, 0, 'old\n');
    await register(url, 'fence', 'agent-new');
    expect((await call(url, 'POST', `/api/jobs/${old.job}/claim`, { device: 'fence', agent: 'agent-old' })).body.error.code).toBe('forbidden');
    const renewed = await claim(url, jobs[0]!.job, 'fence', 'agent-new');
    expect(renewed.attempt).toBe(2);
    expect(
      (await call(url, 'POST', '/api/devices/fence/heartbeat', { agent: 'agent-old', activity: 'running', job: old.job, leg: 0, lockHolder: null })).body,
    ).toEqual({ cancel: [old.job], superseded: true });
    expect((await call(url, 'POST', `/api/jobs/${old.job}/attempts/1/state`, { state: 'running', note: '' }, old.token)).body.error.code).toBe('gone');

    for (const index of [0, 1, 2]) await postLeg(url, renewed, index, 'new\n');
    for (const index of [1, 2]) await postLeg(url, old, index, 'old\n');
    expect((await postLeg(url, old, 3, 'old\n')).body).toEqual({ accepted: true, duplicate: false });
    expect((await postLeg(url, renewed, 3, 'new\n')).body).toEqual({ accepted: false, duplicate: false });
    const job = await finishedJob(url, run);
    expect(job.acceptedAttempt).toBe(1);
    expect(job.attempts.map((attempt) => attempt.state)).toEqual(['accepted', 'superseded']);
    expect((await call(url, 'GET', `/api/blobs/${job.legs[0]!.log}`)).body).toBe('old\n');
  });

  it('called wrongly end the series: the job is void at once, for the reason that the leg gave', async () => {
    const { url } = coordinator;
    await register(url, 'wrong', 'agent-wrong');
    const cases = [{ name: 'small' }, { name: 'large' }];
    const manifest = { schema: 1, suites: { gates: { kind: 'contract', command: ['sh', 'run.sh'], cases } } };
    const contract = await sendTwoHeads(url, repository, JSON.stringify(manifest));
    const { jobs, run } = submitResponse.parse((await call(url, 'POST', '/api/runs', submission(contract, { devices: ['wrong'] }))).body);
    const spec = await claim(url, jobs[0]!.job, 'wrong', 'agent-wrong');
    const leg = { ...legPost('', { outcome: 'usage', exitCode: 2, stdoutBytes: 0 }), log: 'runner: no case small. next: runner --help\n' };
    const put = await call(url, 'PUT', `/api/jobs/${spec.job}/attempts/1/legs/0`, leg, spec.token);
    expect(put.body).toEqual({ accepted: true, duplicate: false });
    const reason = 'leg 0 (baseline base, small) was called wrongly (exit status 2): runner: no case small. next: runner --help.';
    expect(await finishedJob(url, run)).toMatchObject({ state: 'judged', verdicts: [{ verdict: 'void', reason }] });
    expect((await call(url, 'GET', `/api/runs/${run}/report`)).body).toContain('runner: no case small. next: runner --help');
  });

  it('that fail for good end the job as not-run, with the reason and the next command', async () => {
    const { url } = coordinator;
    await register(url, 'permanent', 'agent-perm');
    const { jobs, run } = await submit('permanent');
    const spec = await claim(url, jobs[0]!.job, 'permanent', 'agent-perm');
    const failure = { class: 'permanent', reason: 'npm ci failed in the baseline', next: 'correct the lock file' };
    expect((await call(url, 'POST', `/api/jobs/${spec.job}/attempts/1/failed`, failure, spec.token)).status).toBe(200);
    const job = await finishedJob(url, run);
    expect(job).toMatchObject({ state: 'failed', note: 'npm ci failed in the baseline. next: correct the lock file' });
    expect(job.verdicts[0]).toMatchObject({ verdict: 'not-run', reason: expect.stringContaining('npm ci failed') });
    expect((await runOf(url, run)).coverage).toContainEqual(expect.objectContaining({ device: 'permanent', status: 'not-run' }));
  });

  it('that fail in passing are made again, three times at most', async () => {
    const { url } = coordinator;
    await register(url, 'passing', 'agent-pass');
    const { jobs, run } = await submit('passing');
    for (const attempt of [1, 2, 3]) {
      const spec = await claim(url, jobs[0]!.job, 'passing', 'agent-pass');
      expect(spec.attempt).toBe(attempt);
      await call(url, 'POST', `/api/jobs/${spec.job}/attempts/${attempt}/failed`, { class: 'transient', reason: 'the adapter is gone', next: '' }, spec.token);
      expect((await runOf(url, run)).jobs[0]!.state).toBe(attempt < 3 ? 'queued' : 'failed');
    }
  });
});

describe('submissions that cannot be run', () => {
  const refused = async (request: unknown): Promise<{ code: string; message: string; next: string }> => {
    const reply = await call(coordinator.url, 'POST', '/api/runs', request);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.body.error.message).not.toContain('\n');
    expect(reply.body.error.next).not.toBe('');
    return reply.body.error;
  };

  it('name what is served, what a head has, and what is missing', async () => {
    await register(coordinator.url, 'soft', 'agent-soft', 'software');
    expect(await refused(submission(heads, { devices: ['nobody'] }))).toMatchObject({
      code: 'unknown-device',
      message: expect.stringMatching(/^device nobody is not served by any agent \(served: .*soft/),
    });
    expect(await refused(submission(heads, { suites: ['bench'] }))).toMatchObject({ code: 'unknown-suite', message: expect.stringContaining('it has: gates') });
    expect(await refused(submission(heads, { devices: ['soft'] }))).toMatchObject({ code: 'no-device', next: expect.stringContaining('--allow-software') });
    expect(await refused(submission(['0'.repeat(40), heads[1]]))).toMatchObject({ code: 'unknown-head', message: expect.stringContaining('0'.repeat(40)) });
    expect(await refused({ arms: [], key: 'short' })).toMatchObject({ code: 'bad-request', message: expect.stringContaining('arms') });
  });

  it('name the head and the key of a bad fleet.json', async () => {
    const { url } = coordinator;
    const other = new Repository();
    try {
      const none = other.commit({ 'run.sh': 'echo\n' });
      const broken = other.commit({ 'fleet.json': '{"schema": 1,' });
      const wrong = other.commit({ 'fleet.json': JSON.stringify({ schema: 1, suites: { gates: { kind: 'lines', command: 'sh', cases: [{ name: 'a' }] } } }) });
      const pins = other.commit({
        'fleet.json': JSON.stringify({ schema: 1, suites: { gates: { kind: 'lines', command: ['sh'], cases: [{ name: 'a', pinned: 'golden/a.json' }] } } }),
      });
      const sent = await call(url, 'POST', `/api/heads/bundle?${[none, broken, wrong, pins].map((sha) => `head=${sha}`).join('&')}`, other.bundle('main'));
      expect(sent.status).toBe(200);
      expect(await refused(submission([none, pins]))).toMatchObject({ code: 'no-manifest', message: expect.stringContaining(none.slice(0, 12)) });
      expect(await refused(submission([broken, pins]))).toMatchObject({ code: 'bad-manifest', message: expect.stringContaining('not JSON') });
      expect(await refused(submission([pins, wrong]))).toMatchObject({ code: 'bad-manifest', message: expect.stringContaining('suites.gates.command') });
      expect(await refused(submission([pins, pins]))).toMatchObject({ code: 'bad-manifest', message: expect.stringContaining('golden/a.json') });
    } finally {
      other.remove();
    }
  });
});

describe('requests from elsewhere', () => {
  it('are refused without our header, and under another host name', async () => {
    const plain = await fetch(`${coordinator.url}/api/runs`, { method: 'POST', body: '{}' });
    expect(plain.status).toBe(403);
    const { request } = await import('node:http');
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(`${coordinator.url}/api/runs`, { headers: { host: 'evil.example' } }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
    expect((await fetch(`${coordinator.url}/readyz`)).status).toBe(200);
  });

  it('a second coordinator on the same state directory names the first', async () => {
    await expect(startCoordinator(state)).rejects.toThrow(`is served by a live coordinator (pid ${coordinator.child.pid}, ${coordinator.url})`);
  });
});
