import { afterEach, expect, test, vi } from 'vitest';
import { DEFAULT_RULE, runView, type RunView } from '../protocol/run.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { printResult, runResult } from './run-result.ts';

const RUN = 'r0123456789';
const sha = (digit: string): string => digit.repeat(40);

const verdict = (over: Partial<Verdict>): Verdict => ({
  device: 'swiftshader',
  suite: 'decode',
  candidate: 'b',
  evidence: 'software',
  verdict: 'rule-met',
  reason: 'median gain 10.0% over 3 pairs',
  identities: [
    {
      case: 'story',
      status: 'same',
      baselineDigest: 'd'.repeat(64),
      candidateDigest: 'd'.repeat(64),
      pinnedIdsMatch: true,
      firstDifferingStep: null,
      note: '',
    },
  ],
  lines: [],
  contract: [],
  effects: [
    {
      case: 'story',
      metric: 'total',
      pairs: [
        { case: 'story', pair: 1, order: 'baseline-first', baselineLeg: 0, candidateLeg: 1, baselineMs: 100, candidateMs: 90, gainPercent: 10, flags: [] },
      ],
      medianPercent: 10,
      minPercent: 10,
      maxPercent: 10,
      everyPairPositive: true,
      hodgesLehmannPercent: 10,
      interval: null,
      signFlipP: 0.5,
      smallestP: 0.5,
      medianWithoutFlaggedPercent: null,
      ruleMet: true,
      ruleNote: '',
    },
  ],
  calibration: 'none',
  computedFrom: 'c'.repeat(64),
  ...over,
});

const view = (verdicts: Verdict[]): RunView =>
  runView.parse({
    schema: 1,
    run: RUN,
    url: 'http://127.0.0.1:1/runs/r0123456789',
    submittedAt: '2026-11-29T00:00:00.000Z',
    arms: ['a', 'b'].map((label, index) => ({ label, head: sha(String(index)), settings: {}, tree: sha('e'), subject: '' })),
    pairs: 1,
    rule: DEFAULT_RULE,
    seal: { sha256: 'f'.repeat(64), at: '2026-11-29T00:00:00.000Z', text: '{}' },
    done: true,
    jobs: verdicts.map((entry) => ({
      job: `${RUN}.${entry.device}.${entry.suite}`,
      device: entry.device,
      suite: entry.suite,
      kind: entry.suite === 'contract' ? 'contract' : 'decode',
      state: 'judged',
      evidence: entry.evidence,
      adapter: 'SwiftShader',
      note: '',
      attempts: [],
      acceptedAttempt: 1,
      legs: [],
      verdicts: [entry],
    })),
    coverage: [],
  });

afterEach(() => void vi.restoreAllMocks());
const printed = (result: ReturnType<typeof runResult>): string => {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0);
  printResult(result);
  vi.restoreAllMocks();
  return lines.join('');
};

test('the table names evidence, verdict, digests and gain; the address comes last', () => {
  const text = printed(runResult(view([verdict({})])));
  expect(text).toMatch(/^swiftshader +decode +software +rule-met +equal +story \+10\.0%$/m);
  expect(text.trimEnd().endsWith('page: http://127.0.0.1:1/runs/r0123456789')).toBe(true);
});

test('a different output shows its first step and no gain, and the run exits 1', () => {
  const differs = verdict({
    verdict: 'output-differs',
    effects: [],
    identities: [{ ...verdict({}).identities[0]!, status: 'differs', candidateDigest: 'e'.repeat(64), firstDifferingStep: 4 }],
  });
  const result = runResult(view([differs]));
  expect(result.exit).toBe(1);
  expect(result.verdicts[0]).toMatchObject({ gains: [], digests: [{ case: 'story', equal: false, firstDifferingStep: 4 }] });
  expect(printed(result)).toMatch(/output-differs +story differs from step 4 +-$/m);
});

test.each([
  ['same', 0],
  ['undecided', 3],
  ['void', 3],
  ['new-failure', 1],
] as const)('%s exits %i', (word, exit) => {
  expect(runResult(view([verdict({ verdict: word })])).exit).toBe(exit);
});

test('text from a device cannot reach the terminal raw', () => {
  expect(printed(runResult(view([verdict({ reason: 'bad\u001b[31m\nline' })])))).toContain('swiftshader decode: bad line\n');
});
