/** Machine states as agents post them: what they void, and what is shown beside a pair, from the post to report and page. */
import { expect, it } from 'vitest';
import type { MachineState } from '../../coordinator/protocol/machine.ts';
import { measuredReply } from '../../coordinator/protocol/measured.ts';
import { RECEIPT_FILES } from '../../coordinator/protocol/receipt.ts';
import { submitResponse, type RunView } from '../../coordinator/protocol/run.ts';
import { shownCoverage } from '../../coordinator/core/coverage.ts';
import { readStatedView } from '../../coordinator/core/receipt.ts';
import { renderCsv } from '../../coordinator/core/report-csv.ts';
import { renderMarkdown } from '../../coordinator/core/report.ts';
import { verifyReceipt } from '../../coordinator/core/verify-receipt.ts';
import { readArchive } from '../../coordinator/receipt-archive.ts';
import { call, claim, finishedJob, legPost, register, runOf, submission, scene } from './coordinator-support.ts';

const MANIFEST = JSON.stringify({
  schema: 1,
  suites: { decode: { kind: 'lines', command: ['sh', 'run.sh'], cases: [{ name: 'story' }], timed: true, time: 'decode_ms' } },
});
const IDLE: MachineState = {
  kernel: '6.8.0',
  mesa: null,
  load: 0.2,
  memAvailableKiB: 100_000_000,
  swapUsedKiB: 0,
  pageCache: 'kept',
  governor: 'performance',
  gpu: {
    driver: '580.159.04',
    smClockMhz: 1980,
    memoryClockMhz: 3201,
    temperatureC: 41,
    powerW: 84,
    powerCapW: 700,
    powerCapDefaultW: 700,
    throttle: '0x0000000000000001',
  },
  gpuClients: [],
};
const at = scene(MANIFEST);

/** A run of three pairs in which the state after the third leg is another. */
async function measured(change: Partial<MachineState>, majorFaults = 0): Promise<{ view: RunView; report: string; page: string }> {
  await register(at.url, 'b60', 'agent-one');
  const answer = submitResponse.parse((await call(at.url, 'POST', '/api/runs', submission(at.heads, { devices: ['b60'], rule: 'median >= 3%' }))).body);
  const spec = await claim(at.url, answer.jobs[0]!.job, 'b60', 'agent-one');
  for (const leg of spec.legs) {
    const machine = { before: IDLE, after: leg.index === 2 ? { ...IDLE, ...change } : IDLE };
    const post = legPost(`decode_ms=${leg.head === at.heads[0] ? 1000 : 500}\n`, { machine, majorFaults: leg.index === 2 ? majorFaults : 0 });
    expect((await call(at.url, 'PUT', `/api/jobs/${spec.job}/attempts/1/legs/${leg.index}`, post, spec.token)).status).toBe(200);
  }
  await finishedJob(at.url, answer.run);
  return {
    view: await runOf(at.url, answer.run),
    report: String((await call(at.url, 'GET', `/api/runs/${answer.run}/report?format=markdown`)).body),
    page: await (await fetch(`${at.url}/runs/${answer.run}`)).text(),
  };
}

it.each<[string, Partial<MachineState>, string]>([
  ['a driver that changed', { gpu: { ...IDLE.gpu!, driver: '590.1' } }, 'the GPU driver changed: 580.159.04 before leg 0'],
  ['a kernel that changed', { kernel: '6.9.0' }, 'the kernel changed: 6.8.0 before leg 0'],
])('%s: void, with the leg, and no gain anywhere', async (_, change, reason) => {
  const { view, report, page } = await measured(change);
  expect(view.jobs[0]!.verdicts[0]).toMatchObject({ verdict: 'void', effects: [], reason: expect.stringContaining(reason) });
  for (const text of [report, page]) {
    expect(text).toContain(reason);
    expect(text).not.toContain('50.00 %');
  }
  expect(view.coverage.map((cell) => cell.status)).toEqual(['void', 'void']);
});

it('another process on the GPU voids its pair alone: shown with the reason, and in no figure', async () => {
  const { view, report, page } = await measured({ gpuClients: ['4121 /usr/bin/python3'] });
  const verdict = view.jobs[0]!.verdicts[0]!;
  expect(verdict.verdict).toBe('undecided');
  expect(verdict.effects[0]!.pairs).toHaveLength(2);
  const [voided] = verdict.effects[0]!.voidPairs!;
  expect([voided!.baselineLeg, voided!.candidateLeg]).toContain(2);
  const reason = 'another process was on the GPU after leg 2';
  expect(verdict.reason).toContain(`pair ${voided!.pair} of story is void: ${reason}`);
  expect(verdict.reason).toContain('fleet pairs add RUN 1');
  for (const text of [report, page]) expect(text.split(reason).length).toBeGreaterThan(2);
  expect(page).toContain('void, counted in no figure');
  expect(view.coverage.map((cell) => cell.status)).toEqual(['measured', 'measured']);
  const csv = String((await call(at.url, 'GET', `/api/runs/${view.run}/report?format=csv`)).body);
  expect(csv.split('\r\n').filter((row) => row.startsWith('void-pair,'))).toEqual([expect.stringContaining(reason)]);

  const again = await call(at.url, 'POST', '/api/runs/measured', submission(at.heads, { devices: ['b60'], rule: 'median >= 3%' }));
  expect(measuredReply.parse(again.body).measured).toMatchObject([
    { run: view.run, pairs: 2, unanswered: `it has 2 pairs a case, and 3 are asked for: fleet pairs add ${view.run} 1` },
  ]);

  const files = await readArchive((await fetch(`${at.url}/api/runs/${view.run}/receipt`)).body!);
  expect(verifyReceipt(files)).toMatchObject({ first: null, changed: [] });
  // As versions stated it that voided the whole verdict.
  const stated = readStatedView(files);
  const jobs = stated.jobs.map((job) => ({ ...job, verdicts: [{ ...verdict, verdict: 'void' as const, reason: `${reason}.`, effects: [] }] }));
  const earlier = { ...stated, jobs, coverage: shownCoverage(stated.coverage, jobs) };
  const kept = new Map([
    ...files,
    [RECEIPT_FILES.view, JSON.stringify(earlier)],
    [RECEIPT_FILES.markdown, renderMarkdown(earlier)],
    [RECEIPT_FILES.csv, renderCsv(earlier)],
  ]);
  expect(verifyReceipt(kept)).toMatchObject({ first: null });
});

it('what else differs is shown beside the pair, and decides nothing', async () => {
  const { view, report, page } = await measured({ gpu: { ...IDLE.gpu!, throttle: '0x0000000000000024' } }, 5123);
  const [effect] = view.jobs[0]!.verdicts[0]!.effects;
  expect(view.jobs[0]!.verdicts[0]!.verdict).toBe('rule-met');
  const told = effect!.pairs.find((pair) => pair.baselineLeg === 2 || pair.candidateLeg === 2)!.machine!;
  expect(told).toHaveLength(2);
  expect(told[0]).toMatch(/^major page faults (0 against 5123|5123 against 0)$/);
  expect(told[1]).toMatch(/^throttled by .*software power cap, software thermal slowdown/);
  expect(effect!.pairs.filter((pair) => pair.machine !== undefined)).toHaveLength(1);
  for (const text of told) expect(report).toContain(text);
  expect(page).toContain('5123');
  expect(page).toContain('driver 580.159.04');
});
