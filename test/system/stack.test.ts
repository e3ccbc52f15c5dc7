/** A stack of heads: each against the one below it and the whole against the first, measured in one series. */
import { beforeAll, expect, it } from 'vitest';
import { submitResponse, type SubmitResponse } from '../../coordinator/protocol/run.ts';
import { call, claim, finishedJob, postLeg, runOf, submission, scene } from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: {
    decode: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'story' }], timed: true, time: 'decode_ms' },
    gates: { kind: 'lines', command: ['sh', 'gates.sh'], cases: [{ name: 'all' }] },
  },
});
/** Milliseconds of a leg of each arm. */
const MS = [1000, 800, 400];

const at = scene(MANIFEST, 'b60');
let heads: string[];

beforeAll(async () => {
  heads = [...at.heads, at.repository.commit({ 'run.sh': 'echo three\n' })];
  await call(at.url, 'POST', `/api/heads/bundle?head=${heads[2]}`, at.repository.bundle('main'));
});

/** Measures every job of a run; `gates` says what an arm's gates print. */
async function measure({ run, jobs }: SubmitResponse, gates: (arm: number) => string = () => 'passed=2 total=2\n'): Promise<void> {
  for (const { job, suite } of jobs) {
    const spec = await claim(at.url, job, 'b60', 'agent-one');
    for (const leg of spec.legs) {
      const arm = heads.indexOf(leg.head);
      expect((await postLeg(at.url, spec, leg.index, suite === 'gates' ? gates(arm) : `decode_ms=${MS[arm]}\n`)).status).toBe(200);
    }
  }
  await finishedJob(at.url, run);
}

const request = (more: object) => ({
  ...submission([heads[0]!, heads[1]!], { devices: ['b60'], stack: true, ...more }),
  arms: heads.map((head, i) => ({ label: ['base', 'tile', 'batch'][i], head, settings: {} })),
});
const submitted = async (more: object = {}): Promise<SubmitResponse> => submitResponse.parse((await call(at.url, 'POST', '/api/runs', request(more))).body);

it('judges each step and the whole from pairs of one series', async () => {
  const answer = await submitted({ forecast: '#3: 50% to 70% (90%)' });
  await measure(answer);
  const view = await runOf(at.url, answer.run);
  expect(view.stack).toBe(true);
  const decode = view.jobs.find((job) => job.suite === 'decode')!;
  expect(
    decode.verdicts.map((verdict) => [
      verdict.candidate,
      verdict.verdict,
      verdict.effects[0]!.medianPercent,
      verdict.effects[0]!.pairs.map((pair) => pair.pair),
    ]),
  ).toEqual([
    ['tile against base', 'rule-met', 20, [1, 2, 3]],
    ['batch against tile', 'rule-met', 50, [4, 5, 6]],
    ['batch against base', 'rule-met', 60, [7, 8, 9]],
  ]);
  expect(decode.verdicts.map((verdict) => verdict.forecasts!.length)).toEqual([0, 0, 1]);
  expect(view.jobs.find((job) => job.suite === 'gates')!.verdicts.map((verdict) => verdict.verdict)).toEqual(['same', 'same', 'same']);
  expect(await (await fetch(`${at.url}/runs/${answer.run}`)).text()).toContain('batch against tile');
});

it('lays a failure at the step that brought it', async () => {
  const answer = await submitted();
  await measure(answer, (arm) => `passed=${arm === 0 ? 2 : 1} total=2\n`);
  const gates = (await runOf(at.url, answer.run)).jobs.find((job) => job.suite === 'gates')!;
  expect(gates.verdicts.map((verdict) => [verdict.candidate, verdict.verdict])).toEqual([
    ['tile against base', 'new-failure'],
    ['batch against tile', 'pre-existing'],
    ['batch against base', 'new-failure'],
  ]);
});

it('takes more pairs', async () => {
  const answer = await submitted({ suites: ['decode'] });
  await measure(answer);
  const added = submitResponse.parse((await call(at.url, 'POST', `/api/runs/${answer.run}/pairs`, { pairs: 2, key: `stack-${process.pid}` })).body);
  await measure(added);
  const verdicts = (await runOf(at.url, added.run)).jobs[0]!.verdicts;
  expect(verdicts.map((verdict) => [verdict.candidate, verdict.verdict, verdict.effects[0]!.pairs.length])).toEqual([
    ['tile against base', 'rule-met', 5],
    ['batch against tile', 'rule-met', 5],
    ['batch against base', 'rule-met', 5],
  ]);
});
