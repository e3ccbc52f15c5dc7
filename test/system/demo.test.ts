/** `fleet demo` as a process, on SwiftShader: the same kernels agree, a planted fault is found, and everything it started ends. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { alive, FleetHome, ROOT, until } from './cli-support.ts';

const LONG_MS = 900_000;
const digest = z.object({ case: z.string(), baseline: z.string(), candidate: z.string(), equal: z.boolean(), firstDifferingStep: z.int().nullable() });
const demoResult = z.object({
  run: z.string(),
  url: z.url(),
  done: z.literal(true),
  state: z.string(),
  verdicts: z.array(
    z.object({
      device: z.string(),
      suite: z.string(),
      evidence: z.string(),
      verdict: z.string(),
      reason: z.string(),
      digests: z.array(digest),
      gains: z.array(z.unknown()),
    }),
  ),
});

let home: FleetHome;
beforeAll(() => {
  home = new FleetHome();
});
afterAll(() => home.close());

const demo = (state: string, ...more: string[]): string[] => ['demo', '--devices', 'swiftshader', '--pairs', '1', '--state', state, ...more];

/** Every process id that the demo's processes logged, their own and the Redis child's. */
function loggedPids(state: string): number[] {
  const logs = path.join(state, 'logs');
  const text = readdirSync(logs).map((name) => readFileSync(path.join(logs, name), 'utf8'));
  return [...new Set([...text.join('\n').matchAll(/"(?:pid|redisPid)":(\d+)/g)].map((match) => Number(match[1])))];
}

function expectAllEnded(state: string): void {
  expect(existsSync(path.join(state, 'server.json'))).toBe(false);
  const pids = loggedPids(state);
  expect(pids.length).toBeGreaterThanOrEqual(3); // coordinator, Redis, agent
  expect(pids.filter(alive)).toEqual([]);
}

test(
  'two variants of one head: one JSON object, the same digests, software evidence, and nothing runs on',
  async () => {
    const state = path.join(home.folder, 'same');
    const done = await home.fleet(demo(state, '--json'));
    expect(done.stderr).toContain('adapters that open: ');
    expect(done.status, done.stderr).toBe(0);
    expect(done.stdout.trimEnd().split('\n')).toHaveLength(1);
    const result = demoResult.parse(JSON.parse(done.stdout));
    expect(result.verdicts.map(({ device, suite, evidence }) => [device, suite, evidence])).toEqual([
      ['swiftshader', 'contract', 'software'],
      ['swiftshader', 'decode', 'software'],
    ]);
    const [contract, decode] = result.verdicts;
    expect(contract?.verdict).toBe('same');
    expect(['rule-met', 'rule-not-met', 'undecided', 'same']).toContain(decode?.verdict);
    expect(decode?.digests.map((entry) => [entry.case, entry.equal])).toEqual([
      ['story', true],
      ['unicode', true],
    ]);
    for (const entry of decode?.digests ?? []) expect(entry.baseline).toBe(entry.candidate);
    expectAllEnded(state);
  },
  LONG_MS,
);

test(
  'a dropped term in qmm-q4: contract new-failure, decode output-differs with its first step, no gain',
  async () => {
    const clone = path.join(home.folder, 'clone');
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: home.folder, encoding: 'utf8' });
    git('clone', '-q', '--shared', ROOT, clone);
    const shader = path.join(clone, 'kernels/qmm-q4/qmm-q4.wgsl');
    const shipped = readFileSync(shader, 'utf8');
    const term = '  sum = step(sum, word >> 12u, scale, bias, a.w);\n';
    expect(shipped.split(term)).toHaveLength(2);
    writeFileSync(shader, shipped.replace(term, ''));
    git('-C', clone, 'commit', '-q', '-am', 'drop a term');

    const done = await home.fleet(demo(path.join(home.folder, 'fault'), '--repo', clone, '--heads', 'HEAD~1,HEAD'));
    expect(done.status, done.stderr).toBe(0);
    expect(done.stdout).toMatch(/^swiftshader +contract +software +new-failure +\S.* +-$/m);
    expect(done.stdout).toMatch(/^swiftshader +decode +software +output-differs +.*differs from step \d+.* +-$/m);
    expect(done.stdout).not.toMatch(/[+-]\d+\.\d%/);
    expect(done.stdout).toMatch(/^page \(while it was up\): http:/m);
    expectAllEnded(path.join(home.folder, 'fault'));
  },
  LONG_MS,
);

test(
  'Ctrl-C ends everything that it started',
  async () => {
    const state = path.join(home.folder, 'interrupted');
    const running = home.start(demo(state));
    await until('the run is submitted', () => /swiftshader contract: /.test(running.stderr) || running.child.exitCode !== null);
    const done = await running.end('SIGINT');
    expect(done.status).toBe(130);
    expect(done.stderr).toContain('fleet: interrupted; everything that the demo started is stopped');
    expectAllEnded(state);
  },
  LONG_MS,
);

test('heads that cannot be compared are refused before anything is started', async () => {
  const state = path.join(home.folder, 'refused');
  const done = await home.fleet(demo(state, '--heads', 'nope,HEAD'));
  expect(done).toMatchObject({ status: 2, stdout: '' });
  expect(done.stderr).toMatch(/^fleet: head 'nope' is not a commit in .+\. next: git branch -a\n$/);
  expect(existsSync(state)).toBe(false);
});

test('npm run demo puts nothing of its own on stdout', () => {
  const done = spawnSync('npm', ['run', 'demo', '--', '--json', '--heads', 'nope,HEAD'], { cwd: path.join(import.meta.dirname, '../..'), encoding: 'utf8' });
  expect(done).toMatchObject({ status: 2, stdout: '' });
  expect(done.stderr).toContain("head 'nope' is not a commit");
});
