/** Receipts: the same bytes for the same run, verified from the raw files alone, and every change named. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../coordinator/core/canonical.ts';
import { adapter, decode, kernel, recordsFile, summary } from '../../coordinator/core/testing/records.ts';
import { submitResponse, type SubmitRequest } from '../../coordinator/protocol/run.ts';
import { readArchive, writeArchive } from '../../coordinator/receipt-archive.ts';
import { runFleet, type Done } from './cli-support.ts';
import { call, claim, finishedJob, legPost, postLeg, register, runOf, startCoordinator, submission, temporaryFolder, scene } from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: {
    decode: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'unicode' }], timed: true, time: 'decode_ms' },
    gen: { kind: 'decode', command: ['sh', 'run.sh'], cases: [{ name: 'story' }], timed: true },
    kernels: { kind: 'contract', command: ['sh', 'run.sh'], cases: [{ name: 'all' }] },
  },
});
const TIMES = [
  [13536, 13533, 13351],
  [4735, 4731, 4738],
] as const;

const folder = temporaryFolder();
const at = scene(MANIFEST, 'b60');
let run: string;
let written: Awaited<ReturnType<typeof fleet>>;
const receiptFile = join(folder, 'receipt.tar');

const fleet = (...args: string[]): Promise<Done> => runFleet(args);

async function measured(request: Partial<SubmitRequest> = {}): Promise<string> {
  const answer = submitResponse.parse(
    (await call(at.url, 'POST', '/api/runs', submission(at.heads, { devices: ['b60'], suites: ['decode'], ...request }))).body,
  );
  await measure(answer.run, answer.jobs[0]!.job);
  return answer.run;
}

async function measure(id: string, job: string): Promise<void> {
  const spec = await claim(at.url, job, 'b60', 'agent-one');
  for (const leg of spec.legs) {
    const ms = TIMES[leg.head === at.heads[0] ? 0 : 1][(leg.index >> 1) % 3]!;
    expect((await postLeg(at.url, spec, leg.index, `decode_ms=${ms}: passed=1 total=1\n`)).status).toBe(200);
  }
  await finishedJob(at.url, id);
}

/** Copies a receipt with some of its files changed; null takes one out. */
async function altered(from: string, change: (name: string, content: string) => string | null): Promise<string> {
  const files = await readArchive(createReadStream(from));
  const to = join(folder, 'altered.tar');
  const kept = [...files].flatMap(([name, content]) => {
    const changed = change(name, content);
    return changed === null ? [] : [{ name, text: () => changed }];
  });
  await pipeline(writeArchive(kept), createWriteStream(to));
  return to;
}

beforeAll(async () => {
  run = await measured({ forecast: 'unicode: 15% to 35% (80%)' });
  written = await fleet('receipt', run, '--out', receiptFile, '--url', at.url);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('holds every raw file with its SHA-256, the order, the sealed text and the trees', async () => {
  expect(written).toMatchObject({ status: 0, stderr: '' });
  expect(written.stdout).toBe(`${createHash('sha256').update(readFileSync(receiptFile)).digest('hex')}  ${receiptFile}\n`);
  const files = await readArchive(createReadStream(receiptFile));
  const names = [...files.keys()];
  expect(names).toEqual(names.toSorted());
  const legs = names.filter((name) => name.endsWith('/log.txt'));
  expect(legs).toHaveLength(6);
  expect(files.get(legs[0]!)).toBe('decode_ms=13536: passed=1 total=1\n');
  const listed = files.get('raw-files-sha256.txt')!.trimEnd().split('\n');
  expect(listed).toHaveLength(names.length - 4);
  for (const line of listed) expect(sha256Hex(files.get(line.slice(66))!)).toBe(line.slice(0, 64));
  expect(files.get(`runs/${run}/seal.json`)).toContain('"forecast":{');
  expect(JSON.parse(files.get(`runs/${run}/b60.decode/order.json`)!)).toHaveLength(6);
  expect(files.get('receipt.json')).toContain(at.repository.git('rev-parse', `${at.heads[1]}^{tree}`));
});

it('is the same bytes after a restart on another port', async () => {
  const before = readFileSync(receiptFile);
  await at.coordinator.end('SIGTERM');
  at.coordinator = await startCoordinator(at.state);
  const again = join(folder, 'again.tar');
  expect((await fleet('receipt', run, '--out', again, '--url', at.url)).status).toBe(0);
  expect(readFileSync(again).equals(before)).toBe(true);
});

describe('fleet verify', () => {
  it('untouched: equal, without a coordinator', async () => {
    const done = await fleet('verify', receiptFile);
    expect(done).toMatchObject({ status: 0, stderr: '' });
    expect(done.stdout).toMatch(new RegExp(`^equal: \\d+ figures of run ${run}, computed anew from 15 raw files\n$`));
  });

  it('one digit of a log: names the figure, what the report says, and the file', async () => {
    const log = `runs/${run}/b60.decode/attempt-1/leg-00002/log.txt`;
    const done = await fleet('verify', await altered(receiptFile, (name, content) => (name === log ? content.replace('4731', '4732') : content)));
    expect(done.status).toBe(1);
    expect(done.stdout.split('\n')).toEqual([
      'differs: b60/decode#1/unicode/pair-2/candidateMs: the report says 4731, the raw files give 4732',
      `changed: ${log} is not the file whose SHA-256 is listed`,
      '',
    ]);
  });

  it('one digit of a log, its SHA-256 listed anew: still names the figure', async () => {
    const log = `runs/${run}/b60.decode/attempt-1/leg-00005/log.txt`;
    const content = 'decode_ms=13551: passed=1 total=1\n';
    const tampered = await altered(receiptFile, (name, there) => {
      if (name === log) return content;
      return name === 'raw-files-sha256.txt' ? there.replace(new RegExp(`[0-9a-f]{64}(?=  ${log})`), sha256Hex(content)) : there;
    });
    const done = await fleet('verify', tampered, '--json');
    expect(done.status).toBe(1);
    expect(JSON.parse(done.stdout)).toMatchObject({ equal: false, changed: [], first: { figure: expect.stringMatching(/^b60\/decode#1\/unicode\/pair-3\//) } });
  });

  it.each([
    ['report.json', '"medianPercent":65.0', '"medianPercent":66.0', /^differs: b60\/decode#1\/unicode\/medianPercent: the report says 66\.0/],
    ['report.md', '65.02 %', '65.20 %', /^differs: report\.md line \d+: the report says .*65\.20/],
    ['report.csv', ',65.0', ',65.9', /^differs: report\.csv line \d+: the report says (?:case|pair),.*65\.9/],
    ['seal.json', '"highPercent":35', '"highPercent":70', /^differs: run\/.*\nchanged: runs\/\w+\/seal\.json /],
    [
      'order.json',
      '"pair":1',
      '"pair":2',
      /^differs: run\/seal\/broken: the report says null, the raw files give the order of the legs of decode was changed after/,
    ],
    ['report.json', '"acceptedAttempt":1', '"acceptedAttempt":2', /^differs: b60\/decode\/job\/acceptedAttempt: the report says 2, the raw files give 1/],
    ['report.json', '"op":">=","subject":"median"', '"op":"<=","subject":"median"', /^differs: run\/rule\/clauses-1\/op: the report says <=, /],
    ['leg-00000/measure.json', '"lockHeldBefore":true', '"lockHeldBefore":false', /^differs: b60\/decode\/leg-0\/lockHeldBefore: the report says true/],
  ])('%s: names %s', async (file, from, to, line) => {
    const done = await fleet('verify', await altered(receiptFile, (name, content) => (name.endsWith(file) ? content.replace(from, to) : content)));
    expect(done.stdout).toMatch(line);
    expect(done.status).toBe(1);
  });

  it('a file that was taken out: named', async () => {
    const done = await fleet('verify', await altered(receiptFile, (name, content) => (name.endsWith('leg-00003/log.txt') ? null : content)));
    expect(done.status).toBe(1);
    expect(done.stdout).toMatch(/changed: runs\/\w+\/b60\.decode\/attempt-1\/leg-00003\/log\.txt/);
  });

  it('what is no receipt: exit 2, one line', async () => {
    for (const bytes of [Buffer.from('no tar'), readFileSync(receiptFile).subarray(0, 3000), Buffer.alloc(0)]) {
      writeFileSync(join(folder, 'broken.tar'), bytes);
      const done = await fleet('verify', join(folder, 'broken.tar'));
      expect(done.status).toBe(2);
      expect(done.stderr).toMatch(/^fleet: \S+broken\.tar is no receipt that can be read: .*\. next: fleet receipt RUN --out FILE\n$/);
    }
    expect((await fleet('verify', join(folder, 'missing.tar'))).status).toBe(2);
  });
});

it('of a contract that was judged before worst fractions were kept: equal', async () => {
  const request = submission(at.heads, { devices: ['b60'], suites: ['kernels'] });
  const { run: of, jobs } = submitResponse.parse((await call(at.url, 'POST', '/api/runs', request)).body);
  const spec = await claim(at.url, jobs[0]!.job, 'b60', 'agent-one');
  const body = [kernel('qmm-q4')];
  const records = recordsFile(adapter('Test GPU', 'gpu'), [...body, summary('Test GPU', body, 1)]);
  for (const leg of spec.legs)
    await call(at.url, 'PUT', `/api/jobs/${spec.job}/attempts/${spec.attempt}/legs/${leg.index}`, { ...legPost(''), records }, spec.token);
  await finishedJob(at.url, of);
  const file = join(folder, 'contract.tar');
  await fleet('receipt', of, '--out', file, '--url', at.url);
  const without = (report: string): string => report.replaceAll(/,"worst":\{[^}]*\}/g, '');
  expect(without((await readArchive(createReadStream(file))).get('report.json')!)).not.toContain('"worst"');
  const older = await altered(file, (name, content) => (name === 'report.json' ? without(content) : content));
  expect((await fleet('verify', older)).stdout).toMatch(/^equal: /);
});

it('of added pairs: verifies with the run that they were added to', async () => {
  const added = submitResponse.parse(JSON.parse((await fleet('pairs', 'add', run, '2', '--url', at.url, '--json')).stdout));
  await measure(added.run, added.jobs[0]!.job);
  const file = join(folder, 'added.tar');
  expect((await fleet('receipt', added.run, '--out', file, '--url', at.url)).status).toBe(0);
  expect((await fleet('verify', file)).stdout).toMatch(/^equal: /);
  const log = `runs/${run}/b60.decode/attempt-1/leg-00000/log.txt`;
  const done = await fleet('verify', await altered(file, (name, content) => (name === log ? content.replace('13536', '13537') : content)));
  expect(done.stdout).toMatch(/^differs: b60\/decode#1\/unicode\/pair-1\/baselineMs: the report says 13536, the raw files give 13537/);
});

describe('fleet correct', () => {
  const wrong = 'Clocks were capped at 230 W; | measure again.';
  const correct = (of: string, figure: string) => fleet('correct', of, '--figure', figure, '--text', wrong, '--url', at.url);

  it('is carried by the report, the page, the JSON, the terminal and the receipt; the figure stays', async () => {
    const of = await measured({ forecast: '60% to 70% (90%)' });
    const before = join(folder, 'before.tar');
    await fleet('receipt', of, '--out', before, '--url', at.url);
    expect((await fleet('correct', of, '--list', '--url', at.url)).stdout).toMatch(/^b60\/decode#1\/unicode\/medianPercent +65\.01/m);
    expect(await correct(of, 'b60/decode#1/unicode/medianPercent')).toMatchObject({ status: 0, stdout: `†1 b60/decode#1/unicode/medianPercent: ${wrong}\n` });
    expect((await correct(of, 'b60/decode#1/unicode/pair-2/gainPercent')).status).toBe(0);

    const report = (await fleet('report', of, '--url', at.url)).stdout;
    expect(report).toMatch(/\| 65\.02 % \*\*†1\*\* \|/);
    expect(report).toMatch(/\| 65\.04 % \*\*†2\*\* \|/);
    expect(report).toContain('- **†1** `b60/decode#1/unicode/medianPercent` (stored: `65.01');
    expect(report).toContain('`Clocks were capped at 230 W; \\| measure again.`');
    const page = await (await fetch(`${at.url}/runs/${of}`)).text();
    expect(page).toMatch(/\+65\.02 %<\/span><a class="mark" href="#correction-1"/);
    expect(page).toMatch(/\+65\.04<a class="mark" href="#correction-2"/);
    expect(page).toMatch(/id="correction-1">†1 <code>b60\/decode#1\/unicode\/medianPercent<\/code>.*Clocks were capped/);
    expect(JSON.parse((await fleet('report', of, '--json', '--url', at.url)).stdout).corrections).toMatchObject([{ run: of, text: wrong }, { text: wrong }]);
    expect((await fleet('watch', of, '--url', at.url)).stdout).toContain(`corrected: b60/decode#1/unicode/medianPercent: ${wrong}`);
    const after = join(folder, 'after.tar');
    await fleet('receipt', of, '--out', after, '--url', at.url);
    expect((await fleet('verify', after)).stdout).toMatch(/^equal: /);
    expect((await readArchive(createReadStream(after))).get('report.md')).toContain('**†1**');

    expect((await fleet('forecasts', '--url', at.url)).stdout).toContain(`65.02% † ${wrong}`);
    expect(await (await fetch(`${at.url}/forecasts`)).text()).toContain(`+65.02 † ${wrong}`);

    // A correction that is taken out of a receipt is missed.
    const without = await altered(after, (name, content) => (name === 'receipt.json' ? content.replace(/"corrections":\[.*?\]/, '"corrections":[]') : content));
    expect((await fleet('verify', without)).stdout).toMatch(/^differs: run\/correction-1\/.*\nchanged: receipt\.json/);

    // Its pairs are carried into a run that adds to it, its median is not that run's.
    // Everything above takes longer than a device may be silent, where the machine is busy.
    await register(at.url, 'b60', 'agent-one');
    const added = submitResponse.parse(JSON.parse((await fleet('pairs', 'add', of, '1', '--url', at.url, '--json')).stdout));
    await measure(added.run, added.jobs[0]!.job);
    const view = await runOf(at.url, added.run);
    expect(view.corrections).toMatchObject([{ run: of, figure: 'b60/decode#1/unicode/pair-2/gainPercent' }]);
    expect(await (await fetch(`${at.url}/runs/${added.run}`)).text()).toMatch(/\+65\.04<a class="mark" href="#correction-1"/);
  });

  it('refuses a figure that the run does not have, and an empty text', async () => {
    const done = await correct(run, 'b60/decode#1/unicode/meanPercent');
    expect(done.status).toBe(2);
    expect(done.stderr).toBe(`fleet: run ${run} has no figure b60/decode#1/unicode/meanPercent. next: see their names: fleet correct ${run} --list\n`);
    expect((await fleet('correct', run, '--figure', 'b60/decode#1/verdict', '--text', ' ', '--url', at.url)).status).toBe(2);
    expect((await fleet('correct', run, '--url', at.url)).stderr).toMatch(/^fleet: a correction names its figure/);
  });
});

it('of decodes: one digit of a record names the figure', async () => {
  const request = submission(at.heads, { devices: ['b60'], suites: ['gen'] });
  const answer = submitResponse.parse((await call(at.url, 'POST', '/api/runs', request)).body);
  const spec = await claim(at.url, answer.jobs[0]!.job, 'b60', 'agent-one');
  for (const leg of spec.legs) {
    const totalMs = TIMES[leg.head === at.heads[0] ? 0 : 1][(leg.index >> 1) % 3]!;
    const post = { ...legPost('SUMMARY\n'), records: recordsFile(adapter('Test GPU', 'gpu'), [decode({ totalMs, pinnedIdsMatch: null })]) };
    expect((await call(at.url, 'PUT', `/api/jobs/${spec.job}/attempts/1/legs/${leg.index}`, post, spec.token)).status).toBe(200);
  }
  expect((await finishedJob(at.url, answer.run)).verdicts[0]!.verdict).toBe('rule-met');
  const file = join(folder, 'decode.tar');
  expect((await fleet('receipt', answer.run, '--out', file, '--url', at.url)).status).toBe(0);
  expect((await fleet('verify', file)).stdout).toMatch(/^equal: /);
  const records = `runs/${answer.run}/b60.gen/attempt-1/leg-00001/records.ndjson`;
  const changed = async (from: string, to: string) =>
    fleet('verify', await altered(file, (name, content) => (name === records ? content.replace(from, to) : content)));
  expect((await changed('"totalMs":4735', '"totalMs":4725')).stdout).toMatch(
    /^differs: b60\/gen#1\/story\/pair-1\/candidateMs: the report says 4735, the raw files give 4725\nchanged: /,
  );
  // A digit that no shown figure follows from still changes what the verdict was computed from.
  expect((await changed('"loadMs":210', '"loadMs":211')).stdout).toMatch(/^differs: b60\/gen#1\/computedFrom: /);
});

it('refuses a run that is not done, and an unknown one; nothing is left behind', async () => {
  const answer = submitResponse.parse((await call(at.url, 'POST', '/api/runs', submission(at.heads, { devices: ['b60'], suites: ['decode'] }))).body);
  const file = join(folder, 'early.tar');
  const early = await fleet('receipt', answer.run, '--out', file, '--url', at.url);
  expect(early.status).toBe(2);
  expect(early.stderr).toBe(`fleet: run ${answer.run} is not done, and a receipt is of all of it. next: fleet watch ${answer.run}\n`);
  expect((await fleet('receipt', 'r0000000000', '--out', file, '--url', at.url)).status).toBe(2);
  expect(existsSync(file)).toBe(false);
});
