/** Runs submitted through the real CLI to a real coordinator and agent: verdicts, exit statuses, waiting, the lock held by hand. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { FleetHome, LinesRepository, until } from './cli-support.ts';

const runResult = z.object({
  schema: z.literal(1),
  run: z.string(),
  url: z.string(),
  done: z.boolean(),
  exit: z.int(),
  verdicts: z.array(z.object({ device: z.string(), suite: z.string(), evidence: z.string(), verdict: z.string() })),
});
const runStatus = z.object({ done: z.boolean(), jobs: z.array(z.object({ state: z.string(), status: z.string() })) });

let home: FleetHome;
let repository: LinesRepository;
let lockFile: string;

beforeAll(async () => {
  home = new FleetHome();
  lockFile = path.join(home.folder, 'home/gpu-software.lock');
  repository = new LinesRepository(home.folder);
  repository.commit('passed=2 total=2\nSUMMARY one 1 kernels: 1 pass gates 1-4; gates 10 ms\n');
  repository.commit('passed=2 total=2\nSUMMARY one 1 kernels: 1 pass gates 1-4; gates 99 ms\n');
  repository.commit('passed=2 total=2\nSUMMARY two 1 kernels: 1 pass gates 1-4; gates 10 ms\n');
  await home.up();
  await home.agent('soft');
});
afterAll(() => home.close());

const submit = (heads: string, ...more: string[]): string[] => ['submit', '--heads', heads, '--allow-software', ...more];
const inRepository = {
  get cwd() {
    return repository.directory;
  },
};

test('lines that differ in their milliseconds only are the same: exit 0, and the table says so', async () => {
  const done = await home.fleet(submit('HEAD~2,HEAD~1', '--wait'), inRepository);
  expect(done.status).toBe(0);
  const lines = done.stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^r[0-9a-z]{10} {2}http:\/\/127\.0\.0\.1:\d+\/runs\/r[0-9a-z]{10}$/);
  expect(done.stdout).toMatch(/^soft +lines +software +same +/m);
  expect(lines.at(-1)).toBe(`page: ${lines[0]?.split('  ')[1]}`);
  expect(done.stderr).toMatch(/soft lines: preparing/);
  expect(done.stderr).toMatch(/soft lines: judged, same/);
});

test('what was measured is offered and not queued, with its exit status', async () => {
  const runs = async (): Promise<unknown> => (JSON.parse((await home.fleet(['status', '--json'])).stdout) as { runs: unknown }).runs;
  const before = await runs();
  const done = await home.fleet(submit('HEAD~2,HEAD~1', '--wait'), inRepository);
  expect(done.status).toBe(0);
  expect(done.stdout).toMatch(/^r[0-9a-z]{10} +soft +lines +HEAD~1 +same +\d{4}-\d\d-\d\dT\S+Z +http:\S+$/m);
  expect(done.stderr).toBe('the same trees, settings, suites and devices were measured before; nothing was queued. next: add --again to measure them anew\n');
  expect(await runs()).toEqual(before);
});

test('a commit that was never pushed and differs: exit 1; --json prints one object; reports render it', async () => {
  const done = await home.fleet(submit('HEAD~1,HEAD', '--wait', '--json'), inRepository);
  expect(done.status).toBe(1);
  expect(done.stdout.trimEnd().split('\n')).toHaveLength(1);
  const result = runResult.parse(JSON.parse(done.stdout));
  expect(result).toMatchObject({ done: true, exit: 1, verdicts: [{ device: 'soft', suite: 'lines', evidence: 'software', verdict: 'output-differs' }] });

  const watched = await home.fleet(['watch', result.run]);
  expect(watched.status).toBe(1);
  expect(watched.stdout).toContain('output-differs');
  const markdown = await home.fleet(['report', result.run]);
  expect(markdown).toMatchObject({ status: 0, stderr: '' });
  expect(markdown.stdout).toContain(result.run);
  expect(markdown.stdout).toContain('output-differs');
  const json = await home.fleet(['report', result.run, '--format', 'json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ run: result.run });
  const page = await (await fetch(result.url)).text();
  expect(page).toContain(result.run);
  expect((await home.fleet(['status'])).stdout).toMatch(new RegExp(`^${result.run} .*soft +lines +output-differs`, 'm'));
});

test('while the lock is held by hand the job waits, status names file and holder, and nothing is measured', async () => {
  const holder = await holdLock();
  try {
    const submitted = z.object({ run: z.string() }).parse(JSON.parse((await home.fleet(submit('HEAD~2,HEAD~1', '--again', '--json'), inRepository)).stdout));
    const status = async (): Promise<z.infer<typeof runStatus>> => runStatus.parse(JSON.parse((await home.fleet(['status', submitted.run, '--json'])).stdout));
    await until('the job waits for the lock', async () => (await status()).jobs[0]?.state === 'waiting-lock');
    const text = (await home.fleet(['status', submitted.run])).stdout;
    expect(text).toMatch(/waiting-lock, /);
    expect(text).toContain(lockFile);
    expect(text).toMatch(new RegExp(`\\b${holder.pid}\\b|sleep`));

    // Waiting for it: a time-out and Ctrl-C both leave the run alone and say how to come back.
    const timedOut = await home.fleet(['watch', submitted.run, '--timeout', '1']);
    expect(timedOut.status).toBe(124);
    expect(timedOut.stderr.trimEnd().split('\n').at(-1)).toBe(`fleet: ${submitted.run} is not done after 1 s; it goes on. next: fleet watch ${submitted.run}`);
    const watching = home.start(['watch', submitted.run]);
    await until('watch shows the wait', () => watching.stderr.includes('waiting-lock'));
    const detached = await watching.end('SIGINT');
    expect(detached.status).toBe(130);
    expect(detached.stderr.trimEnd().split('\n').at(-1)).toBe(`detached: ${submitted.run} goes on. next: fleet watch ${submitted.run}`);

    const waiting = await status();
    expect(waiting.done).toBe(false);
    expect(waiting.jobs[0]?.state).toBe('waiting-lock');
    release(holder);
    const done = await home.fleet(['watch', submitted.run]);
    expect(done.status).toBe(0);
    expect(done.stderr).toContain('judged, same');
  } finally {
    release(holder);
  }
});

test('arms of one head that differ in settings are kept apart by their labels', async () => {
  const done = await home.fleet(submit('HEAD[qmm=scalar,ncols=8],HEAD[qmm=vec4]', '--wait', '--json'), inRepository);
  const arms = z.object({ arms: z.array(z.object({ label: z.string(), head: z.string() })) }).parse(JSON.parse(done.stdout)).arms;
  expect(arms.map((arm) => arm.label)).toEqual(['HEAD[qmm=scalar,ncols=8]', 'HEAD[qmm=vec4]']);
  expect(new Set(arms.map((arm) => arm.head))).toEqual(new Set([repository.git('rev-parse', 'HEAD')]));
});

test('--merge adds the merge of two heads as one more arm, measured in the same series', async () => {
  const main = repository.git('rev-parse', 'HEAD');
  for (const name of ['one', 'two']) {
    repository.git('checkout', '-q', '-b', name, main);
    writeFileSync(path.join(repository.directory, `${name}.txt`), 'x\n');
    repository.git('add', '.');
    repository.git('commit', '-q', '-m', name);
  }
  const refs = repository.git('for-each-ref');
  const done = await home.fleet(submit('main,one,two', '--merge', 'one,two', '--wait', '--json'), inRepository);
  expect(done.status).toBe(0);
  const result = z
    .object({ arms: z.array(z.object({ label: z.string() })), verdicts: z.array(z.object({ candidate: z.string(), verdict: z.string() })) })
    .parse(JSON.parse(done.stdout));
  expect(result.arms.map((arm) => arm.label)).toEqual(['main', 'one', 'two', 'merge(one+two)']);
  expect(result.verdicts.map((verdict) => [verdict.candidate, verdict.verdict])).toEqual([
    ['one', 'same'],
    ['two', 'same'],
    ['merge(one+two)', 'same'],
  ]);
  expect(repository.git('for-each-ref')).toBe(refs);
  repository.git('checkout', '-q', 'main');
});

test('without --allow-software the software device is refused, and said why', async () => {
  const done = await home.fleet(['submit', '--heads', 'HEAD~1,HEAD'], inRepository);
  expect(done.status).toBe(5);
  expect(done.stderr).toMatch(/software.* next: .*--allow-software/);
});

/** Locks the device's file as people do, and waits until it is held. */
async function holdLock(): Promise<ChildProcess> {
  const held = path.join(home.folder, 'held');
  const holder = spawn('flock', [lockFile, 'sh', '-c', `echo held > ${held}; exec sleep 120`], { stdio: 'ignore', detached: true });
  await until('the lock is held', () => existsSync(held) && readFileSync(held, 'utf8') === 'held\n');
  return holder;
}

/** flock(1) hands the lock to its command, so both have to end. */
function release(holder: ChildProcess): void {
  if (holder.exitCode === null && holder.signalCode === null && holder.pid !== undefined) process.kill(-holder.pid, 'SIGTERM');
}
