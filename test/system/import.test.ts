/** Imports: a receipt in another coordinator, and engine records of a machine that reaches nothing. */
import Database from 'better-sqlite3';
import { createReadStream, createWriteStream, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adapter, control, decode, kernel, recordsFile, summary } from '../../coordinator/core/testing/records.ts';
import { importResponse, submitResponse } from '../../coordinator/protocol/run.ts';
import { readArchive, writeArchive } from '../../coordinator/receipt-archive.ts';
import { runFleet, type Done } from './cli-support.ts';
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
  type Running,
} from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: { decode: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'unicode' }], timed: true, time: 'decode_ms' } },
});
const folder = temporaryFolder();
const states = [temporaryFolder(), temporaryFolder()] as const;
const repository = new Repository();
let there: Running;
let here: Running;
let run: string;
const receipt = join(folder, 'receipt.tar');

const fleet = (...args: string[]): Promise<Done> => runFleet([...args, '--url', here.url]);

/** Imports files and answers with the run. */
async function imported(...args: string[]): Promise<string> {
  const done = await fleet('import', ...args, '--json');
  if (done.status !== 0) throw new Error(done.stderr);
  return importResponse.parse(JSON.parse(done.stdout)).run;
}

function written(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

beforeAll(async () => {
  [there, here] = await Promise.all([startCoordinator(states[0]), startCoordinator(states[1])]);
  const heads = await sendTwoHeads(there.url, repository, MANIFEST);
  await register(there.url, 'b60', 'agent-one');
  const answer = submitResponse.parse((await call(there.url, 'POST', '/api/runs', submission(heads, { devices: ['b60'] }))).body);
  run = answer.run;
  const spec = await claim(there.url, answer.jobs[0]!.job, 'b60', 'agent-one');
  for (const leg of spec.legs) await postLeg(there.url, spec, leg.index, `decode_ms=${leg.head === heads[0] ? 1000 + leg.index : 800}: passed=1 total=1\n`);
  await finishedJob(there.url, run);
  await call(there.url, 'POST', `/api/runs/${run}/corrections`, { figure: 'b60/decode#1/verdict', text: 'the clock was capped' });
  await pipeline((await fetch(`${there.url}/api/runs/${run}/receipt`)).body!, createWriteStream(receipt));
});
afterAll(async () => {
  await Promise.all([there?.end('SIGTERM'), here?.end('SIGTERM')]);
  for (const path of [folder, ...states]) rmSync(path, { recursive: true, force: true });
  repository.remove();
});

it('a receipt: the same figures, its logs, its corrections, marked as imported and read-only', async () => {
  expect(await imported(receipt)).toBe(run);
  expect(await imported(receipt)).toBe(run);
  const [original, view] = await Promise.all([runOf(there.url, run), runOf(here.url, run)]);
  expect(view.jobs).toEqual(original.jobs);
  expect(view.imported).toMatchObject({ kind: 'receipt' });
  expect(view.corrections).toMatchObject([{ text: 'the clock was capped' }]);
  expect((await call(here.url, 'GET', `/api/blobs/${view.jobs[0]!.legs[0]!.log}`)).body).toBe('decode_ms=1000: passed=1 total=1\n');
  const report = (await fleet('report', run)).stdout;
  expect(report).toMatch(/\*\*Imported\*\* \S+ from a receipt of another coordinator/);
  expect(report).toContain('**rule-met** **†1**');
  const page = await (await fetch(`${here.url}/runs/${run}`)).text();
  expect(page).toMatch(/Imported .*read-only, from.*a receipt of another coordinator/);
  expect((await fleet('status')).stdout).toContain(`${run} (imported)`);
  expect(await (await fetch(here.url)).text()).toMatch(/imported/);

  expect((await fleet('pairs', 'add', run, '1')).stderr).toBe(`fleet: run ${run} was imported and is read-only. next: submit its heads here\n`);
  expect((await fleet('receipt', run, '--out', join(folder, 'again.tar'))).stderr).toMatch(/^fleet: run \w+ was imported\. next: use the file/);
  const client = new Database(join(states[1], 'fleet.sqlite'));
  expect(() => client.exec("UPDATE imports SET view = '{}'")).toThrow('read-only');
  expect(() => client.exec('DELETE FROM imports')).toThrow('read-only');
  client.close();

  expect((await fleet('correct', run, '--figure', 'b60/decode#1/unicode/medianPercent', '--text', 'seen here')).stdout).toMatch(/^†2 /);
});

it('a receipt that was altered, or of a run that is here: refused, and nothing is stored', async () => {
  const files = await readArchive(createReadStream(receipt));
  const altered = join(folder, 'altered.tar');
  const entries = [...files].map(([name, content]) => ({
    name,
    text: () => (name === 'report.json' ? content.replace('"medianPercent":20', '"medianPercent":30') : content),
  }));
  await pipeline(writeArchive(entries), createWriteStream(altered));
  const done = await fleet('import', altered);
  expect(done.status).toBe(2);
  expect(done.stderr).toMatch(/^fleet: the receipt was altered: b60\/decode#1\/unicode\/medianPercent is not what was written\. next: see what: fleet verify/);
  const own = await fetch(`${there.url}/api/imports/receipts`, {
    method: 'POST',
    headers: { 'x-fleet': '1' },
    body: await (await fetch(`${there.url}/api/runs/${run}/receipt`)).blob(),
  });
  expect(own.status).toBe(409);
  expect((await fleet('import', written('no.tar', 'x'.repeat(2000)))).stderr).toMatch(/^fleet: nothing was imported: .*next: fleet verify FILE\n$/);
});

it('engine records: shown with their SUMMARY lines, and void since no lock is recorded', async () => {
  const body = [kernel('qmm-q4'), control('qmm-q4', 'drop-bias')];
  const contract = (gatesMs: number) => recordsFile(adapter('Test GPU', 'gpu'), [...body, summary('Test GPU', body, gatesMs)], 'contract');
  const id = await imported(written('old.ndjson', contract(100)), written('new.ndjson', contract(90)), '--device', 'gb10', '--labels', 'main,branch');
  const view = await runOf(here.url, id);
  expect(view).toMatchObject({
    imported: { kind: 'records' },
    arms: [
      { label: 'main', head: 'unknown' },
      { label: 'branch', tree: 'unknown' },
    ],
  });
  expect(view.jobs[0]).toMatchObject({ device: 'gb10', kind: 'contract', evidence: 'gpu', verdicts: [{ verdict: 'void' }] });
  expect(view.jobs[0]!.verdicts[0]!.reason).toContain('lock was not held before leg 0 (baseline main, all): bare engine records were imported');
  expect(view.jobs[0]!.note).toContain('branch: SUMMARY Test GPU 1 kernels: 1 pass');
  expect(view.coverage.map((cell) => cell.status)).toEqual(['void', 'void']);
  expect((await call(here.url, 'GET', `/api/blobs/${view.jobs[0]!.legs[1]!.records}`)).body).toBe(contract(90));
  const report = (await fleet('report', id)).stdout;
  expect(report).toContain('bare engine records: **no lock, no sealed rule, no head recorded**');
  expect(await (await fetch(`${here.url}/runs/${id}`)).text()).toContain('bare engine records: no lock, no sealed rule, no head recorded');

  const single = await imported(written('one.ndjson', recordsFile(adapter('Test GPU', 'software'), [decode()])), '--device', 'gb10');
  expect((await runOf(here.url, single)).jobs[0]).toMatchObject({
    kind: 'decode',
    evidence: 'software',
    verdicts: [],
    legs: [{ case: 'story', measure: { lockHeldBefore: false } }],
  });
  expect((await fleet('report', single)).stdout).toMatch(/^### fleet \[\w+\]\(\S+\): `one\.ndjson`\n/);
});

it.each([
  ['cut.ndjson', () => recordsFile(adapter('Test GPU', 'gpu'), [decode()]).split('\n').slice(0, -2).join('\n'), /cut\.ndjson is not whole/],
  ['other.ndjson', () => '{"schema":1}\n', /nothing was imported: other\.ndjson: records line 1/],
  ['probe.ndjson', () => recordsFile(adapter('Test GPU', 'gpu'), [], 'probe'), /holds records of fleet engine probe; contract and decode can be imported/],
])('refuses %s, and says why', async (name, content, message) => {
  const done = await fleet('import', written(name, content()), '--device', 'gb10');
  expect(done.status).toBe(2);
  expect(done.stderr).toMatch(message);
});

it('asks for the device of records', async () => {
  expect((await fleet('import', written('d.ndjson', recordsFile(adapter('Test GPU', 'gpu'), [decode()])))).stderr).toBe(
    'fleet: engine records do not say which device made them. next: name it with --device NAME\n',
  );
});
