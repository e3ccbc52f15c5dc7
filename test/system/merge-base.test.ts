/** The merge base of two heads, measured as an arm of its own where nothing is timed, from submission to verdict and receipt. */
import { beforeAll, expect, it } from 'vitest';
import { verifyReceipt } from '../../coordinator/core/verify-receipt.ts';
import { submitResponse, type RunView } from '../../coordinator/protocol/run.ts';
import { readArchive } from '../../coordinator/receipt-archive.ts';
import { call, claim, finishedJob, postLeg, register, runOf, submission, scene } from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: {
    gates: { kind: 'lines', command: ['sh', 'gates.sh'], cases: [{ name: 'all' }] },
    decode: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'story' }], timed: true, time: 'decode_ms' },
  },
});
const at = scene(MANIFEST);
/** Baseline, candidate, merge base. */
let heads: string[];

beforeAll(async () => {
  const [base, one] = at.heads;
  at.repository.git('checkout', '--quiet', '-b', 'two', base);
  const two = at.repository.commit({ 'run.sh': 'echo three\n' });
  await call(at.url, 'POST', `/api/heads/bundle?head=${two}`, at.repository.bundle('two'));
  heads = [one, two, base];
});

/** Measures a run whose arms' gates print these lines. */
async function measured(gates: readonly string[], more: object = {}): Promise<RunView> {
  await register(at.url, 'b60', 'agent-one');
  const arms = heads.map((head, index) => ({ label: ['one', 'two', 'merge-base(abc)'][index], head, settings: {} }));
  const request = { ...submission([heads[0]!, heads[1]!], { devices: ['b60'], ...more }), arms, mergeBase: 2 };
  const answer = submitResponse.parse((await call(at.url, 'POST', '/api/runs', request)).body);
  for (const { job, suite } of answer.jobs) {
    const spec = await claim(at.url, job, 'b60', 'agent-one');
    for (const leg of spec.legs) {
      const arm = heads.indexOf(leg.head);
      expect((await postLeg(at.url, spec, leg.index, suite === 'gates' ? gates[arm]! : `decode_ms=${[1000, 500][arm]}\n`)).status).toBe(200);
    }
  }
  await finishedJob(at.url, answer.run);
  return runOf(at.url, answer.run);
}
const RED = 'passed=1 total=2\n';
const GREEN = 'passed=2 total=2\n';

it('takes part where nothing is timed, gets no verdict of its own, and classes what fails in both heads', async () => {
  const view = await measured([RED, RED, RED]);
  expect(view.mergeBase).toBe(2);
  const [gates, decode] = view.jobs;
  expect(gates!.legs.map((leg) => leg.arm)).toEqual([0, 1, 2]);
  expect(new Set(decode!.legs.map((leg) => leg.arm))).toEqual(new Set([0, 1]));
  expect(gates!.verdicts.map(({ candidate, verdict }) => [candidate, verdict])).toEqual([['two', 'pre-existing']]);
  expect(decode!.verdicts.map(({ candidate, verdict }) => [candidate, verdict])).toEqual([['two', 'rule-met']]);
  expect(view.coverage.filter((cell) => cell.arm === 'merge-base(abc)').map(({ suite, status }) => [suite, status])).toEqual([
    ['gates', 'measured'],
    ['decode', 'not-asked'],
  ]);
  const report = String((await call(at.url, 'GET', `/api/runs/${view.run}/report?format=markdown`)).body);
  expect(report).toContain('`two` against `one`');
  expect(report).toContain('| merge base | `merge-base(abc)` |');
  const receipt = await fetch(`${at.url}/api/runs/${view.run}/receipt`);
  expect(verifyReceipt(await readArchive(receipt.body!))).toMatchObject({ first: null, changed: [] });
});

it('a failure of both heads that the merge base does not have is new', async () => {
  const view = await measured([RED, RED, GREEN], { suites: ['gates'] });
  expect(view.jobs[0]!.verdicts[0]).toMatchObject({ verdict: 'new-failure', reason: expect.stringContaining('both heads fail and their merge base does not') });
});

it('names only the last of three or more arms, or the baseline', async () => {
  await register(at.url, 'b60', 'agent-one');
  for (const mergeBase of [1, 2]) {
    const reply = await call(at.url, 'POST', '/api/runs', { ...submission([heads[0]!, heads[1]!], { devices: ['b60'] }), mergeBase });
    expect(reply).toMatchObject({ status: 400, body: { error: { message: `arm ${mergeBase} cannot be the merge base of the others` } } });
  }
});
