/** What was measured before is found by trees, settings, cases, devices and driver, and is not queued again. */
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { adapter, decode, kernel, recordsFile, summary } from '../../coordinator/core/testing/records.ts';
import { measuredReply, type MeasuredReply } from '../../coordinator/protocol/measured.ts';
import { submitResponse, type SubmitRequest, type SubmitResponse } from '../../coordinator/protocol/run.ts';
import { runFleet, type Done } from './cli-support.ts';
import { call, claim, finishedJob, legPost, submission, until, runOf, scene } from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: {
    gates: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'small' }, { name: 'large' }] },
    gen: { kind: 'decode', command: ['sh', 'run.sh'], cases: [{ name: 'story' }], settings: true, timed: true },
  },
});

const at = scene(MANIFEST);
let first: SubmitResponse;

async function submit(...args: string[]): Promise<Done> {
  // A device that nothing was heard of for 15 s takes no submission, and a busy machine needs some of them for a process to start.
  await serve(DRIVER);
  return runFleet(['submit', '--heads', 'HEAD~1,HEAD', '--devices', 'b60', '--repo', at.repository.path, '--url', at.url, ...args]);
}

/** Measures every job of a run: gates print the same, the candidate's decodes take half the time, and its kernel is wrong. */
async function measure({ run, jobs }: SubmitResponse, agent = 'agent-one', lockHeldAfter = true): Promise<void> {
  const base = (await runOf(at.url, run)).arms[0]!.head;
  for (const { job, suite } of jobs) {
    const spec = await claim(at.url, job, 'b60', agent);
    for (const leg of spec.legs) {
      const totalMs = leg.head === base ? 1000 : 500;
      const kernels = [kernel('qmm-q4', { status: leg.head === base ? 'pass' : 'fail' })];
      const body = suite === 'gen' ? [decode({ totalMs, pinnedIdsMatch: null })] : [...kernels, summary('Test GPU', kernels, 1)];
      const records = suite === 'gates' ? null : recordsFile(adapter('Test GPU', 'gpu'), body);
      const post = { ...legPost('passed=1 total=1\n', { lockHeldAfter }), records };
      expect((await call(at.url, 'PUT', `/api/jobs/${job}/attempts/${spec.attempt}/legs/${leg.index}`, post, spec.token)).status).toBe(200);
    }
  }
  await until('the run to be done', async () => (await runOf(at.url, run)).done);
}

/** The driver that the test's records name. */
const DRIVER = (JSON.parse(recordsFile(adapter('Test GPU', 'gpu'), []).split('\n')[1]!) as { driver: string }).driver;
const serve = (driver: string) =>
  call(at.url, 'POST', '/api/devices/b60/register', {
    agent: 'agent-one',
    adapter: 'Test GPU',
    driver,
    evidence: 'gpu',
    lockPath: '/tmp/gpu.lock',
    host: 'host',
    pid: 1,
  });

beforeAll(async () => {
  await serve(DRIVER);
  first = submitResponse.parse((await call(at.url, 'POST', '/api/runs', submission(at.heads, { devices: ['b60'] }))).body);
});
beforeEach(() => serve(DRIVER).then(() => {}));

async function before(request: Partial<SubmitRequest>): Promise<MeasuredReply> {
  return measuredReply.parse((await call(at.url, 'POST', '/api/runs/measured', submission(at.heads, { devices: ['b60'], ...request }))).body);
}

async function submitted(request: Partial<SubmitRequest>): Promise<SubmitResponse> {
  const reply = await call(at.url, 'POST', '/api/runs', submission(at.heads, { devices: ['b60'], ...request }));
  const answer = submitResponse.parse(reply.body);
  await measure(answer);
  return answer;
}
const send = (head: string) => call(at.url, 'POST', `/api/heads/bundle?head=${head}`, at.repository.bundle('main'));

const runs = async (): Promise<number> => (await call(at.url, 'GET', '/api/runs')).body.length as number;

it('a run that is not measured yet is none', async () => {
  const done = await submit('--suites', 'gates', '--json');
  expect(done.status).toBe(0);
  await measure(submitResponse.parse(JSON.parse(done.stdout)), 'agent-one', false);
  // The lock was lost: its verdict is void, and the next submission is measured.
  expect(JSON.parse((await submit('--suites', 'gates', '--json')).stdout)).toHaveProperty('jobs');
  await measure(first);
  expect((await finishedJob(at.url, first.run)).verdicts[0]!.verdict).toBe('same');
});

it('offers run, verdicts and date, queues nothing, and exits with --wait as the run does', async () => {
  const listed = await runs();
  const done = await submit('--wait');
  expect(done.status).toBe(0);
  const rows = done.stdout.trimEnd().split('\n');
  expect(rows[1]).toMatch(new RegExp(`^${first.run} +b60 +gates +candidate +same +\\d{4}-\\S+Z +${at.url}/runs/${first.run}$`));
  expect(rows[2]).toMatch(new RegExp(`^${first.run} +b60 +gen +candidate +rule-met `));
  expect(done.stderr).toContain('nothing was queued. next: add --again to measure them anew\n');
  const json = JSON.parse((await submit('--json', '--suites', 'gen')).stdout);
  expect(json).toMatchObject({ queued: false, exit: 0, measured: [{ run: first.run, suite: 'gen', pairs: 3, unanswered: null }] });
  expect(await runs()).toBe(listed);
});

it('knows the trees under other commits, and says that edits are not among them', async () => {
  at.repository.git('commit', '--amend', '--quiet', '--message', 'the same files, said otherwise');
  expect(at.repository.git('rev-parse', 'HEAD')).not.toBe(at.heads[1]);
  at.repository.git('rm', '--quiet', '--cached', 'run.sh');
  const done = await submit();
  expect(done.stdout).toContain(first.run);
  expect(done.stderr).toMatch(/^note: \d changed files? (is|are) not committed/);
  at.repository.git('reset', '--quiet');
});

it('another rule, or fewer pairs, is offered as no answer: exit 3 with --wait', async () => {
  const done = await submit('--suites', 'gen', '--rule', 'median >= 60%', '--forecast', '40% to 60%', '--wait');
  expect(done.status).toBe(3);
  expect(done.stderr).toContain('note: b60/gen: it was judged by another rule: identity exact and median >= 3% and every pair > 0% and median > floor\n');
  expect(done.stderr).toContain('note: the forecast was not sealed');
  expect(await before({ suites: ['gen'], pairs: 5 })).toMatchObject({
    measured: [{ run: first.run, unanswered: `it has 3 pairs a case, and 5 are asked for: fleet pairs add ${first.run} 2` }],
  });
  // A contract of printed lines is judged alike under every rule.
  expect(await before({ suites: ['gates'], pairs: 9, rule: 'median >= 60%' })).toMatchObject({ measured: [{ unanswered: null }], missing: [] });
});

const arm = (head: string, settings = {}) => ({ label: 'arm', head, settings });
it.each<[string, () => Partial<SubmitRequest>]>([
  ['other settings', () => ({ arms: [arm(at.heads[0]), arm(at.heads[1], { qmm: 'vec4' })] })],
  ['the arms the other way round', () => ({ arms: [arm(at.heads[1]), arm(at.heads[0])] })],
  ['fewer cases', () => ({ suites: ['gates'], cases: ['gates/small'] })],
  ['a stack', () => ({ stack: true })],
  ['another order of legs', () => ({ suites: ['gen'], seed: 7 })],
  ['three arms', () => ({ arms: [arm(at.heads[0]), arm(at.heads[1]), arm(at.heads[0])] })],
])('%s: nothing of it was measured', async (_, request) => {
  const reply = await before(request());
  expect(reply.measured).toEqual([]);
  expect(reply.missing).not.toEqual([]);
});

it('--again measures anew', async () => {
  expect(submitResponse.parse(JSON.parse((await submit('--again', '--json')).stdout)).run).not.toBe(first.run);
});

it('another driver is another device, also for a suite without records', async () => {
  await serve('driver 2');
  expect((await before({})).missing).toEqual([
    { device: 'b60', suite: 'gates' },
    { device: 'b60', suite: 'gen' },
  ]);
});

it('a case that was set aside is part of the question', async () => {
  const more = JSON.parse(MANIFEST) as { suites: { gates: { cases: object[] } } };
  more.suites.gates.cases.push({ name: 'new' });
  const head = at.repository.commit({ 'fleet.json': JSON.stringify(more) });
  await send(head);
  const arms = [arm(at.heads[0]), arm(head)];
  await submitted({ arms, suites: ['gates'] });
  expect((await before({ arms, suites: ['gates'] })).measured).toMatchObject([{ suite: 'gates', unanswered: null }]);
  expect((await before({ arms, suites: ['gates'], cases: ['gates/small', 'gates/large'] })).measured).toEqual([]);
});

it('a gain of one run is no answer where the contract fails in another', async () => {
  const suites = { ...(JSON.parse(MANIFEST) as { suites: object }).suites, kernels: { kind: 'contract', command: ['sh', 'run.sh'], cases: [{ name: 'all' }] } };
  const pair = [at.repository.commit({ 'fleet.json': JSON.stringify({ schema: 1, suites }) }), at.repository.commit({ 'run.sh': 'echo three\n' })] as const;
  await send(pair[1]);
  const arms = pair.map((head) => arm(head));
  await submitted({ arms, suites: ['gen'] });
  expect((await before({ arms, suites: ['gen', 'kernels'] })).measured).toMatchObject([{ verdicts: [{ verdict: 'rule-met' }], unanswered: null }]);
  const { run } = await submitted({ arms, suites: ['kernels'] });
  expect((await before({ arms, suites: ['gen', 'kernels'] })).measured).toMatchObject([
    { suite: 'gen', unanswered: `its gain would be withheld: suite kernels fails on this device in run ${run}` },
    { suite: 'kernels', verdicts: [{ verdict: 'new-failure' }], unanswered: null },
  ]);
});
