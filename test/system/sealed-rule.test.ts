/** Rule and forecast: sealed before anything runs, what the verdict is computed from, and what becomes of a run that somebody edits. */
import Database from 'better-sqlite3';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../coordinator/core/canonical.ts';
import { forecastSummary } from '../../coordinator/protocol/forecasts.ts';
import { submitResponse, type SubmitRequest, type SubmitResponse } from '../../coordinator/protocol/run.ts';
import { runFleet, type Done } from './cli-support.ts';
import { call, claim, finishedJob, postLeg, runOf, submission, scene } from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: { decode: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'unicode' }], timed: true, time: 'decode_ms' } },
});
const RULE = 'median >= 60% and every pair > 0';
const TIMES = [
  [13536, 13533, 13351],
  [4735, 4731, 4738],
] as const;

const at = scene(MANIFEST, 'b60');

const submit = (more: Partial<SubmitRequest>) => call(at.url, 'POST', '/api/runs', submission(at.heads, { devices: ['b60'], ...more }));

async function submitted(more: Partial<SubmitRequest>): Promise<SubmitResponse> {
  return submitResponse.parse((await submit(more)).body);
}

/** Claims the run's job and posts the published times, up to leg `until`. */
async function measure({ jobs }: SubmitResponse, before: (leg: number) => void = () => {}): Promise<void> {
  const spec = await claim(at.url, jobs[0]!.job, 'b60', 'agent-one');
  for (const leg of spec.legs) {
    before(leg.index);
    const ms = TIMES[leg.head === at.heads[0] ? 0 : 1][(leg.index >> 1) % 3]!;
    const reply = await postLeg(at.url, spec, leg.index, `decode_ms=${ms}: passed=1 total=1\n`);
    expect(reply.status).toBe(200);
  }
}

/** Runs SQL as a person with a shell would, the triggers out of the way. */
function edit(sql: string): void {
  const client = new Database(join(at.state, 'fleet.sqlite'));
  try {
    expect(() => client.exec(sql)).toThrow(/sealed/);
    const triggers = client.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%sealed_update'").all() as {
      name: string;
      sql: string;
    }[];
    for (const { name } of triggers) client.exec(`DROP TRIGGER ${name}`);
    client.exec(sql);
    for (const trigger of triggers) client.exec(trigger.sql);
  } finally {
    client.close();
  }
}

it('seals rule and forecast before anything is queued, and answers with the hash', async () => {
  const answer = await submitted({ rule: RULE, forecast: 'unicode: 15% to 35% (80%)' });
  expect(answer.sealed).toMatchObject({ rule: 'identity exact and median >= 60% and every pair > 0%', forecast: 'unicode: 15% to 35% (80%)' });
  const view = await runOf(at.url, answer.run);
  expect(view.seal).toMatchObject({ sha256: sha256Hex(view.seal.text), at: answer.sealed!.at, broken: null });
  expect(view.seal.sha256).toBe(answer.sealed!.sha256);
  expect(JSON.parse(view.seal.text)).toMatchObject({ schema: 2, rule: { text: answer.sealed!.rule }, forecast: { text: 'unicode: 15% to 35% (80%)' } });

  await measure(answer);
  const job = await finishedJob(at.url, answer.run);
  expect(Date.parse(job.attempts[0]!.openedAt)).toBeGreaterThanOrEqual(Date.parse(answer.sealed!.at));
  expect(job.verdicts[0]).toMatchObject({
    verdict: 'rule-met',
    effects: [{ ruleNote: 'median 65.019 % ≥ 60 %, 3 of 3 pairs positive' }],
    forecasts: [{ case: 'unicode', hit: false, confidencePercent: 80 }],
  });
  const page = await (await fetch(`${at.url}/runs/${answer.run}`)).text();
  expect(page).toContain('identity exact and median &gt;= 60% and every pair &gt; 0%');
  expect(page).toContain('missed by 30.02 points');
  const report = String((await call(at.url, 'GET', `/api/runs/${answer.run}/report`)).body);
  expect(report).toContain('`identity exact and median >= 60% and every pair > 0%`');
  expect(report).toContain('**missed** by 30.02 points');
});

it('decides by the sealed rule: the same times do not meet a harder one', async () => {
  const answer = await submitted({ rule: 'median >= 66%' });
  await measure(answer);
  expect((await finishedJob(at.url, answer.run)).verdicts[0]).toMatchObject({ verdict: 'rule-not-met', reason: 'unicode: median 65.019 % < 66 %.' });
});

it.each<[Partial<SubmitRequest>, RegExp]>([
  [{ rule: 'median >= x%' }, /the rule cannot be read: column 11: expected a number/],
  [{ forecast: '5% or 6%' }, /the forecast cannot be read: column 4: expected "to"/],
  [{ forecast: 'story: 5% to 6%' }, /no timed suite of this run has case story \(it has: unicode\)/],
  [{ forecast: '@m1: 5% to 6%' }, /device m1 takes no part in this run/],
  [{ forecast: '#2: 5% to 6%' }, /there is no candidate #2/],
])('refuses %j and stores nothing', async (more, message) => {
  const before = (await call(at.url, 'GET', '/api/runs')).body.length;
  const reply = await submit(more);
  expect(reply.status).toBe(400);
  expect(reply.body.error.message).toMatch(message);
  expect((await call(at.url, 'GET', '/api/runs')).body).toHaveLength(before);
});

describe('fleet pairs add', () => {
  const add = (run: string, pairs: number): Promise<Done> => runFleet(['pairs', 'add', run, String(pairs), '--url', at.url, '--json']);

  it('goes on with the order under the sealed rule, and judges all pairs together', async () => {
    const answer = await submitted({ rule: 'median >= 60% and p <= 0.05', forecast: '60% to 70% (90%)' });
    await measure(answer);
    const first = (await finishedJob(at.url, answer.run)).verdicts[0]!;
    expect(first).toMatchObject({ verdict: 'undecided', effects: [{ smallestP: 0.125 }] });
    expect(first.reason).toContain('2 more pairs are needed');

    const done = await add(answer.run, 2);
    expect(done.status).toBe(0);
    const added = submitResponse.parse(JSON.parse(done.stdout));
    expect(added.sealed).toMatchObject({ rule: answer.sealed!.rule, forecast: null });
    const plan = await runOf(at.url, added.run);
    expect(plan.extends).toEqual({ run: answer.run, sha256: answer.sealed!.sha256, pairs: 3 });
    // Pair 3 ran the baseline first, so pair 4 runs the candidate first.
    expect(plan.jobs[0]!.legs.map((leg) => [leg.index, leg.pair, leg.arm])).toEqual([
      [6, 4, 1],
      [7, 4, 0],
      [8, 5, 0],
      [9, 5, 1],
    ]);
    await measure(added);
    const verdict = (await finishedJob(at.url, added.run)).verdicts[0]!;
    expect(verdict).toMatchObject({ verdict: 'rule-met', forecasts: [], effects: [{ smallestP: 1 / 32, signFlipP: 1 / 32 }] });
    expect(verdict.effects[0]!.pairs.map((pair) => [pair.pair, pair.order])).toEqual([
      [1, 'baseline-first'],
      [2, 'candidate-first'],
      [3, 'baseline-first'],
      [4, 'candidate-first'],
      [5, 'baseline-first'],
    ]);
    expect(verdict.effects[0]!.order).toMatchObject({ baselineFirst: 3, candidateFirst: 2 });
    expect(await (await fetch(`${at.url}/runs/${added.run}`)).text()).toContain('not account for the look in between');

    // And once more, onto both.
    const third = submitResponse.parse(JSON.parse((await add(added.run, 1)).stdout));
    await measure(third);
    expect((await finishedJob(at.url, third.run)).verdicts[0]!.effects[0]!.pairs).toHaveLength(6);

    // What is added rests on what was there: an edit of the first run takes the verdict of the last.
    edit(`UPDATE runs SET pairs = 4 WHERE id = '${answer.run}'`);
    expect((await runOf(at.url, third.run)).seal.broken).toContain(`run ${answer.run}, whose pairs these were added to: the number of pairs was changed`);
    expect((await add(third.run, 1)).stderr).toMatch(/^fleet: no pairs can be added to run .* next: submit the heads anew\n$/);
  });

  it('keeps the seed of the order: what is added is what one run of all pairs would have had', async () => {
    const order = async (run: string) => (await runOf(at.url, run)).jobs[0]!.legs.map((leg) => [leg.index, leg.pair, leg.arm]);
    const whole = await submitted({ seed: 1, pairs: 8 });
    const answer = await submitted({ seed: 1, pairs: 3 });
    await measure(answer);
    await finishedJob(at.url, answer.run);
    const added = submitResponse.parse(JSON.parse((await add(answer.run, 5)).stdout));
    expect([...(await order(answer.run)), ...(await order(added.run))]).toEqual(await order(whole.run));
    expect((await order(whole.run)).filter((_, moment) => moment % 2 === 0).map(([, , arm]) => arm)).toEqual([1, 0, 1, 0, 0, 1, 0, 1]);
    const view = await runOf(at.url, added.run);
    expect(view.seed).toBe(1);
    expect(JSON.parse(view.seal.text)).toMatchObject({ seed: 1 });
    expect(String((await call(at.url, 'GET', `/api/runs/${added.run}/report`)).body)).toContain('5 pairs a case, order of legs by seed 1.');
  });

  it('refuses a run that is not done, and says what helps', async () => {
    const answer = await submitted({});
    const done = await add(answer.run, 2);
    expect(done.status).not.toBe(0);
    expect(done.stderr).toBe(`fleet: run ${answer.run} is not done, and pairs are added to what was judged. next: fleet watch ${answer.run}\n`);
  });
});

describe('a run that was edited past the triggers', () => {
  const easier = JSON.stringify({ text: 'identity exact and median >= 1%', identity: 'exact', clauses: [{ subject: 'median', op: '>=', value: 1 }] });

  it('before its last leg: the verdict refuses and says why', async () => {
    const answer = await submitted({ rule: 'median >= 66%' });
    await measure(answer, (leg) => {
      if (leg === 5) edit(`UPDATE runs SET rule = '${easier}' WHERE id = '${answer.run}'`);
    });
    const verdict = (await finishedJob(at.url, answer.run)).verdicts[0]!;
    expect(verdict).toMatchObject({ verdict: 'void', effects: [] });
    expect(verdict.reason).toBe(
      'no verdict: the rule was changed after sealing: sealed "identity exact and median >= 66%", stored "identity exact and median >= 1%".',
    );
  });

  it('after its verdict: the verdict no longer stands, on the page and in the report too', async () => {
    const answer = await submitted({ forecast: '60% to 70% (90%)' });
    await measure(answer);
    expect((await finishedJob(at.url, answer.run)).verdicts[0]!.verdict).toBe('rule-met');
    const sealed = (await runOf(at.url, answer.run)).seal.text;
    const other = sealed.replace('"highPercent":70', '"highPercent":66');
    edit(`UPDATE runs SET seal_text = '${other}', seal_sha256 = '${sha256Hex(other)}' WHERE id = '${answer.run}'`);
    const view = await runOf(at.url, answer.run);
    expect(view.seal.broken).toMatch(/^the seal was replaced: the run was submitted as [0-9a-f]{12}, and the database holds [0-9a-f]{12}$/);
    expect(view.jobs[0]!.verdicts[0]).toMatchObject({ verdict: 'void', effects: [] });
    expect(await (await fetch(`${at.url}/runs/${answer.run}`)).text()).toContain('This run is not what was sealed');
    expect((await call(at.url, 'GET', `/api/runs/${answer.run}/report`)).body).toContain('No verdict holds');
  });

  it('whose order of legs was changed', async () => {
    const answer = await submitted({});
    edit(`UPDATE planned_legs SET pair = 9 WHERE job = '${answer.jobs[0]!.job}' AND position = 0`);
    expect((await runOf(at.url, answer.run)).seal.broken).toBe('the order of the legs of decode was changed after sealing');
  });
});

it('forecasts are summed up over all runs, without those of edited ones', async () => {
  const summary = forecastSummary.parse((await call(at.url, 'GET', '/api/forecasts')).body);
  expect(summary.scored.map((row) => [row.case, row.hit, row.confidencePercent])).toEqual([['unicode', false, 80]]);
  expect(summary.bands).toMatchObject([{ fromPercent: 80, toPercent: 90, hits: 0, of: 1 }]);
  expect(summary.unscored.map((row) => row.note).toSorted()).toEqual([
    expect.stringContaining('the number of pairs was changed'),
    expect.stringContaining('the seal was replaced'),
  ]);
  const page = await (await fetch(`${at.url}/forecasts`)).text();
  expect(page).toContain('Calibration');
  expect(page).toContain('missed by 30.02 points');
});
