/** Legs of another mode, pooled over every run that measured the same two trees on one device. */
import { expect, it } from 'vitest';
import { submitResponse, type RunView } from '../../coordinator/protocol/run.ts';
import { call, claim, finishedJob, postLeg, runOf, submission, scene } from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: { decode: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'story' }], timed: true, time: 'decode_ms' } },
});

const at = scene(MANIFEST, 'gb10');

/** Claims and measures a run's only job; the first leg of the baseline takes `slow` times as long. */
async function measured(path: string, body: object, base: string, slow: number): Promise<RunView> {
  const { run, jobs } = submitResponse.parse((await call(at.url, 'POST', path, body)).body);
  const spec = await claim(at.url, jobs[0]!.job, 'gb10', 'agent-one');
  const first = spec.legs.find((leg) => leg.head === base)!.index;
  for (const leg of spec.legs) {
    const ms = (leg.head === base ? 250 : 240) * (leg.index === first ? slow : 1) + leg.index / 10;
    expect((await postLeg(at.url, spec, leg.index, `decode_ms=${ms}\n`)).status).toBe(200);
  }
  await finishedJob(at.url, run);
  return runOf(at.url, run);
}

const submitted = (pair: [string, string], slow: number): Promise<RunView> => measured('/api/runs', submission(pair, { devices: ['gb10'] }), pair[0], slow);

it('counts every run of the same trees once, added pairs too, and no other run', async () => {
  const first = await submitted(at.heads, 1.8);
  expect(first.pooledModes).toMatchObject([
    { device: 'gb10', suite: 'decode', arm: 1, case: 'story', runs: 1, baseline: { hits: 1, of: 3 }, candidate: { hits: 0, of: 3 } },
  ]);
  // The same trees by another commit: only its message differs.
  const again: [string, string] = [at.heads[0], at.repository.commit({})];
  await call(at.url, 'POST', `/api/heads/bundle?head=${again[1]}`, at.repository.bundle('main'));
  await submitted(again, 1.8);
  const added = await measured(`/api/runs/${first.run}/pairs`, { pairs: 3, key: `more-${process.pid}` }, at.heads[0], 1);
  expect(added.jobs[0]!.verdicts[0]!.effects[0]!.pairs).toHaveLength(6);
  // The other way round is another comparison.
  await submitted([at.heads[1], at.heads[0]], 1.8);

  const view = await runOf(at.url, first.run);
  expect(view.pooledModes).toMatchObject([{ runs: 3, baseline: { hits: 2, of: 9 }, candidate: { hits: 0, of: 9 } }]);
  expect(view.pooledModes![0]!.fisherP).toBeCloseTo(0.4706, 4);
  expect(view.pooledModes![0]!.moreLegs).toBeGreaterThan(10);
  const page = await (await fetch(`${at.url}/runs/${first.run}`)).text();
  expect(page).toContain('baseline 2 of 9, candidate 0 of 9 legs');
  const report = String((await call(at.url, 'GET', `/api/runs/${first.run}/report`)).body);
  expect(report).toContain('over all 3 runs of these trees: baseline 2 of 9, candidate 0 of 9 (Fisher p 0.471; ');
});

it('says nothing where no leg ever ran in another mode', async () => {
  const other = at.repository.commit({ 'run.sh': 'echo three\n' });
  await call(at.url, 'POST', `/api/heads/bundle?head=${other}`, at.repository.bundle('main'));
  expect((await submitted([at.heads[0], other], 1)).pooledModes).toEqual([]);
});
