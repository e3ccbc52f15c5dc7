/** `fleet calibrate`: an A/A run is measured as every run, gives its device's noise, and every verdict after it is held against that. */
import Database from 'better-sqlite3';
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, expect, it } from 'vitest';
import { adapter, decode, MODEL, recordsFile } from '../../coordinator/core/testing/records.ts';
import { calibrationList } from '../../coordinator/protocol/calibration.ts';
import { submitResponse, type RunView, type SubmitRequest, type SubmitResponse } from '../../coordinator/protocol/run.ts';
import { readArchive, writeArchive } from '../../coordinator/receipt-archive.ts';
import { runFleet, type Done } from './cli-support.ts';
import { call, claim, finishedJob, legPost, runOf, submission, temporaryFolder, until, scene } from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: {
    gates: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'all' }] },
    decode: { kind: 'decode', command: ['sh', 'run.sh'], cases: [{ name: 'story' }, { name: 'unicode' }], timed: true },
  },
});

const folder = temporaryFolder();
const at = scene(MANIFEST, 'b60');

const fleet = (...args: string[]): Promise<Done> => runFleet([...args, ...(args[0] === 'verify' ? [] : ['--url', at.url])], at.repository.path);

/** Posts every leg of a run's only job; `ms` says how long a leg of the candidate (arm 1) or baseline took. */
async function measure({ run, jobs }: SubmitResponse, ms: (leg: number, candidate: boolean) => number, driver?: string): Promise<RunView> {
  const spec = await claim(at.url, jobs[0]!.job, 'b60', 'agent-one');
  const arms = new Map((await runOf(at.url, run)).jobs[0]!.legs.map((leg) => [leg.index, leg.arm]));
  for (const leg of spec.legs) {
    const totalMs = ms(leg.index, arms.get(leg.index) === 1);
    const records = recordsFile(adapter('Test GPU', 'gpu', driver), [decode({ prompt: leg.case, totalMs, pinnedIdsMatch: null })]);
    const reply = await call(at.url, 'PUT', `/api/jobs/${spec.job}/attempts/1/legs/${leg.index}`, { ...legPost('', AT_NOW), records }, spec.token);
    expect(reply.status).toBe(200);
  }
  await finishedJob(at.url, run);
  return runOf(at.url, run);
}
const AT_NOW = { startedAt: new Date().toISOString() };
/** A device that strays by ±2 %. */
const noisy = (leg: number): number => 1000 + 20 * Math.sin(12.9898 * (leg + 1));

async function submitted(more: Partial<SubmitRequest> = {}): Promise<SubmitResponse> {
  const reply = await call(at.url, 'POST', '/api/runs', submission(at.heads, { devices: ['b60'], suites: ['decode'], ...more }));
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body));
  return submitResponse.parse(reply.body);
}

let calibrated: RunView;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('before there is any: the verdict says so, and what helps', async () => {
  const view = await measure(await submitted(), (_, candidate) => (candidate ? 900 : 1000), 'driver 1');
  expect(view.jobs[0]!.verdicts[0]).toMatchObject({ verdict: 'rule-met', calibration: 'no A/A calibration. next: fleet calibrate --device b60' });
  expect((await fleet('calibrate', '--list')).stdout).toBe('no A/A calibration yet. next: fleet calibrate --device NAME\n');
});

it('runs a head against itself in its timed suites, stores floor and rates, and is labelled everywhere', async () => {
  const waiting = fleet('calibrate', '--device', 'b60', '--pairs', '12', '--wait', '--timeout', '300');
  const run = await until(
    'the run',
    async () => ((await call(at.url, 'GET', '/api/runs')).body as { run: string; calibrates?: true }[]).find((item) => item.calibrates)?.run,
    60_000,
  );
  const planned = await runOf(at.url, run);
  expect(planned).toMatchObject({
    calibrates: true,
    pairs: 12,
    arms: [
      { label: 'HEAD', head: at.heads[1] },
      { label: 'HEAD again', head: at.heads[1] },
    ],
  });
  expect(planned.jobs.map((job) => job.suite)).toEqual(['decode']);
  calibrated = await measure({ run, url: planned.url, jobs: planned.jobs }, noisy, 'driver 1');

  expect(calibrated.calibrated).toMatchObject([
    {
      device: 'b60',
      suite: 'decode',
      case: 'story',
      evidence: 'gpu',
      driver: 'driver 1',
      adapter: 'Test GPU',
      head: at.heads[1],
      model: MODEL,
      floor: { pairs: 3 },
    },
    { case: 'unicode', falseVerdicts: { pairs: 3, simulated: { of: 10_000 }, counted: { of: 4 } } },
  ]);
  expect(calibrated.calibrated![0]!.baselineMs).toHaveLength(12);
  const rows = new Database(join(at.state, 'fleet.sqlite'), { readonly: true });
  expect(rows.prepare('SELECT device, suite, case_name, at, head, driver, evidence, floor_percent FROM calibrations ORDER BY case_name').all()).toMatchObject([
    {
      device: 'b60',
      suite: 'decode',
      case_name: 'story',
      at: AT_NOW.startedAt,
      head: at.heads[1],
      driver: 'driver 1',
      evidence: 'gpu',
      floor_percent: calibrated.calibrated![0]!.floor.percent,
    },
    { case_name: 'unicode' },
  ]);
  rows.close();

  // Whatever word its rule gives, the reason says what it is about.
  expect(calibrated.jobs[0]!.verdicts[0]!.reason).toMatch(/^A\/A calibration, both arms are one head: /);
  const done = await waiting;
  expect(done.status).toBe(0);
  expect(done.stdout).toMatch(/^b60 +gpu +decode +story +12 +\d+\.\d\d% of 3 pairs +\d+\.\d\d% of 10000 +\d of 4 +\d{4}-\d\d-\d\d +r\w{10}$/m);
  expect(done.stdout).toMatch(/^b60 decode story: median gain of the head over itself [+-]\d\.\d\d% \(.*; second place costs /m);
  const status = await fleet('status');
  expect(status.stdout).toMatch(new RegExp(`^${run} .*A/A calibration: HEAD against HEAD again`, 'm'));
  // No verdict's badge, colour or bold word.
  const page = await (await fetch(`${at.url}/runs/${run}`)).text();
  expect(page).toMatch(/A\/A: rule-(?:not-)?met/);
  expect(page).not.toContain('class="verdict ');
  expect((await fleet('status', run)).stdout).toContain(`${run}  A/A calibration of HEAD against HEAD again  done`);
  expect(await (await fetch(`${at.url}/runs/${run}`)).text()).toContain('says nothing about any change');
  expect(await (await fetch(at.url)).text()).toContain('A/A calibration');
  expect(String((await call(at.url, 'GET', `/api/runs/${run}/report`)).body)).toContain('**A/A calibration**: both arms are one head.');
  expect((await fleet('calibrate', '--list')).stdout).toMatch(/ yes$/m);
});

it('a later verdict is held against the floor that was sealed with it, and shows floor, rate and date', async () => {
  const floor = calibrated.calibrated!.find((item) => item.case === 'story')!.floor.percent;
  expect(floor).toBeGreaterThan(1);
  const answer = await submitted({ rule: 'median > floor' });
  const within = await measure(answer, (_, candidate) => (candidate ? 1000 - 10 * floor * 0.9 : 1000), 'driver 1');
  expect(within.jobs[0]!.verdicts[0]).toMatchObject({
    verdict: 'rule-not-met',
    calibrations: [{ case: 'story', run: calibrated.run, floorPercent: floor, stale: null }, { case: 'unicode' }],
  });
  expect(within.jobs[0]!.verdicts[0]!.reason).toContain('not above the A/A floor');
  const above = await measure(await submitted(), (_, candidate) => (candidate ? 900 : 1000), 'driver 1');
  const verdict = above.jobs[0]!.verdicts[0]!;
  expect(verdict.verdict).toBe('rule-met');
  const words = new RegExp(
    `story: A/A floor [\\d.]+ % of 3 pairs; with no change this rule is met in [\\d.]+ % of 10,000 simulated and \\d of 4 measured series \\(run ${calibrated.run}, `,
  );
  expect(verdict.calibration).toMatch(words);
  expect((await fleet('watch', above.run)).stdout).toMatch(words);
  expect(String((await call(at.url, 'GET', `/api/runs/${above.run}/report`)).body)).toMatch(words);
  const page = (await (await fetch(`${at.url}/runs/${above.run}`)).text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(page).toMatch(words);
  expect(page).toMatch(/rule met by no change \d+ of 10000/);
});

it('is in the receipt: verify computes floor, rate and verdict anew, of both runs', async () => {
  const judged = ((await call(at.url, 'GET', '/api/runs')).body as { run: string }[])[0]!.run;
  for (const run of [judged, calibrated.run]) {
    const file = join(folder, `${run}.tar`);
    expect((await fleet('receipt', run, '--out', file)).status).toBe(0);
    expect((await fleet('verify', file)).stdout).toMatch(/^equal: /);
  }
  const altered = async (run: string, change: (name: string, content: string) => string): Promise<string> => {
    const files = await readArchive(createReadStream(join(folder, `${run}.tar`)));
    await pipeline(
      writeArchive([...files].map(([name, content]) => ({ name, text: () => change(name, content) }))),
      createWriteStream(join(folder, 'altered.tar')),
    );
    return (await fleet('verify', join(folder, 'altered.tar'))).stdout;
  };
  const stated = await altered(judged, (name, content) => (name === 'report.json' ? content.replace(/"floorPercent":\d/, '"floorPercent":9') : content));
  expect(stated).toMatch(/^differs: b60\/decode#1\/calibrations-1\/floorPercent: the report says 9/);
  const inSeal = await altered(judged, (name, content) =>
    name.endsWith('seal.json') ? content.replace(/"baselineMs":\[\d{3}/, '"baselineMs":[777') : content,
  );
  expect(inSeal).toMatch(/^differs: run\/.*\nchanged: runs\/\w+\/seal\.json /);
  const figure = await altered(calibrated.run, (name, content) =>
    name === 'report.json' ? content.replace(/("floor":\{"pairs":3,"percent":)\d/, '$19') : content,
  );
  expect(figure).toMatch(/^differs: b60\/decode\/story\/calibration\/floor\/percent: the report says 9/);
});

it('a stale one is used and said: another driver, another case', async () => {
  await call(at.url, 'POST', '/api/devices/b60/register', {
    agent: 'agent-one',
    adapter: 'Test GPU',
    driver: 'driver 2',
    evidence: 'gpu',
    lockPath: '/tmp/gpu.lock',
    host: 'host',
    pid: 1,
  });
  const view = await measure(await submitted(), (_, candidate) => (candidate ? 900 : 1000), 'driver 2');
  const verdict = view.jobs[0]!.verdicts[0]!;
  expect(verdict.reason).toMatch(/above the A\/A floor of .* %, which is stale\.$/);
  expect(verdict.calibration).toContain('STALE: the driver was driver 1, and is driver 2. next: fleet calibrate --device b60');
  expect(await (await fetch(`${at.url}/runs/${view.run}`)).text()).toContain('calibration stale');
  expect((await fleet('calibrate', '--list', '--json')).stdout).toContain('"stale":"the driver was driver 1, and is driver 2"');
  const { calibrations } = calibrationList.parse((await call(at.url, 'GET', '/api/calibrations')).body);
  expect(calibrations).toHaveLength(2);
});

it('added pairs are judged by the calibration that was sealed first; a submission asks for the newest', async () => {
  const ask = async () => (await call(at.url, 'POST', '/api/runs/measured', submission(at.heads, { devices: ['b60'], suites: ['decode'] }))).body;
  const gain = (_: number, candidate: boolean): number => (candidate ? 900 : 1000);
  const first = await measure(await submitted(), gain, 'driver 2');
  expect(await ask()).toMatchObject({ measured: [{ run: first.run, unanswered: null }] });
  const again = { arm: { label: 'HEAD', head: at.heads[1], settings: {} }, device: 'b60', pairs: 6, key: `again-${process.pid}` };
  // The newest is the one whose legs started last.
  AT_NOW.startedAt = new Date().toISOString();
  const newer = submitResponse.parse((await call(at.url, 'POST', '/api/calibrations', again)).body);
  await measure(newer, noisy, 'driver 2');
  expect(await ask()).toMatchObject({ measured: [{ unanswered: 'it was judged by another A/A calibration than is newest, or by none' }] });
  const more = submitResponse.parse((await call(at.url, 'POST', `/api/runs/${first.run}/pairs`, { pairs: 3, key: `more-${process.pid}` })).body);
  expect((await measure(more, gain, 'driver 2')).jobs[0]!.verdicts[0]!.calibrations).toMatchObject([{ run: calibrated.run }, { run: calibrated.run }]);
});

it('takes no pairs, is offered for no submission, and refuses what times nothing', async () => {
  expect((await fleet('pairs', 'add', calibrated.run, '3')).stderr).toBe(
    `fleet: run ${calibrated.run} is an A/A calibration, and a longer one is a new one. next: fleet calibrate --device b60 --pairs N\n`,
  );
  const request = { ...submission([at.heads[1], at.heads[1]], { devices: ['b60'], suites: ['decode'] }), pairs: 3 };
  expect((await call(at.url, 'POST', '/api/runs/measured', request)).body).toMatchObject({ measured: [] });
  expect(await fleet('calibrate', '--device', 'b60', '--suites', 'gates')).toMatchObject({
    status: 2,
    stderr: 'fleet: suite gates of HEAD cannot be calibrated: it times decode. next: name a timed suite with --suites\n',
  });
  expect(await fleet('calibrate')).toMatchObject({
    status: 2,
    stderr: 'fleet: --device is missing: a calibration is of one device. next: fleet devices lists them; fleet calibrate --device NAME\n',
  });
});
