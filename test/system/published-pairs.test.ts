/**
 * Published pairs through the whole path: a `lines` suite that prints the published times, run by a real agent for a real coordinator.
 * What people once calculated by hand, and once wrongly, is calculated from what the legs printed.
 */
import { release } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listAdapters } from '../../agent/inventory.ts';
import { PUBLISHED_PAIRS } from '../../coordinator/core/testing/oracle.ts';
import type { LegMeasure } from '../../coordinator/protocol/run.ts';
import type { Verdict } from '../../coordinator/protocol/verdict.ts';
import { finishedRun, startAgent, submitHeads } from './agent-process.ts';
import { CHECKOUT, Cleanup } from './agent-support.ts';
import { call, Repository, startCoordinator } from './coordinator-support.ts';

const MANIFEST = {
  schema: 1,
  suites: {
    replay: {
      kind: 'lines',
      command: ['sh', 'replay.sh', '{case}'],
      cases: PUBLISHED_PAIRS.map(({ name }) => ({ name })),
      timed: true,
      time: 'decode_ms',
      timeoutS: 60,
    },
  },
};
/** The nth leg of a head prints the head's nth time: a leg does not know its pair, so a file in the worktree counts. */
const REPLAY = `set -eu
leg=$(($(cat "legs-of-$1" 2>/dev/null || echo 0) + 1))
echo "$leg" >"legs-of-$1"
echo "RESULT $1 decode_ms=$(sed -n "\${leg}p" "$1.txt"): passed=1 total=1"
`;

const cleanup = new Cleanup();
let verdict: Verdict;
let states: (LegMeasure['machine'] | undefined)[];
let report: string;
let page: string;

beforeAll(async () => {
  const coordinator = await startCoordinator(cleanup.folder());
  cleanup.add(() => coordinator.end('SIGTERM'));
  const folder = cleanup.folder();
  const adapter = (await listAdapters(CHECKOUT))[0]!.name;
  const agent = await startAgent({ url: coordinator.url, device: 'replay', adapter, lock: join(folder, 'gpu.lock'), state: join(folder, 'state') });
  cleanup.add(() => agent.end('SIGTERM'));
  const repository = new Repository();
  cleanup.add(() => repository.remove());
  const times = (arm: 'baseline' | 'candidate'): Record<string, string> =>
    Object.fromEntries(PUBLISHED_PAIRS.map((published) => [`${published.name}.txt`, `${published[arm].join('\n')}\n`]));
  const heads: [string, string] = [
    repository.commit({ 'fleet.json': JSON.stringify(MANIFEST), 'replay.sh': REPLAY, ...times('baseline') }),
    repository.commit(times('candidate')),
  ];
  const run = await submitHeads(coordinator.url, repository, heads, 'replay');
  const job = (await finishedRun(coordinator.url, run)).jobs[0]!;
  verdict = job.verdicts[0]!;
  states = job.legs.map((leg) => leg.measure?.machine);
  report = String((await call(coordinator.url, 'GET', `/api/runs/${run}/report`)).body);
  page = await (await fetch(`${coordinator.url}/runs/${run}`)).text();
});
afterAll(() => cleanup.run());

it.each(PUBLISHED_PAIRS)('$name: gains and median to 0.001', ({ name, baseline, candidate, gainPercent, medianPercent }) => {
  expect(verdict.verdict).toBe('rule-met');
  const effect = verdict.effects.find((item) => item.case === name)!;
  expect(effect.pairs.map((pair) => [pair.baselineMs, pair.candidateMs])).toEqual(baseline.map((ms, i) => [ms, candidate[i]]));
  expect(effect.pairs.map((pair) => Number(pair.gainPercent.toFixed(3)))).toEqual(gainPercent);
  expect(Number(effect.medianPercent.toFixed(3))).toBe(medianPercent);
});

it('the gains that the withdrawn table printed beside its rows are not reproduced', () => {
  const printed = verdict.effects.find((item) => item.case === 'b60-unicode-24-as-first-posted')!.pairs.map((pair) => pair.gainPercent.toFixed(1));
  expect(printed).toEqual(['64.9', '64.7', '65.0']);
  expect(printed).not.toEqual(['65.0', '65.0', '64.5']);
});

it('report and page show the figures of the stored records', () => {
  for (const figure of ['65.02', '65.04', '64.51', '64.88', '64.74', '65.01']) {
    expect(report).toContain(`${figure} %`);
    expect(page).toContain(`+${figure}`);
  }
});

it('every leg has the machine’s state before and after it; a software device has no GPU to ask', () => {
  for (const machine of states) expect(machine).toMatchObject({ before: { kernel: release(), gpu: null, gpuClients: null }, after: { kernel: release() } });
  expect(page).toMatch(
    /load [\d.]+, (?:[\d.]+ GiB|unknown) available, swap (?:[\d.]+ GiB|unknown), governor [\w,-]+, kernel [^;,<]+(?:, Mesa [^;,<]+)?; GPU unknown/,
  );
});
