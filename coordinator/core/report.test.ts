import { describe, expect, it } from 'vitest';
import type { JobView, RunView } from '../protocol/run.ts';
import { DEFAULT_RULE } from '../protocol/run.ts';
import { seal } from './canonical.ts';
import { REPORT_BYTES, renderMarkdown } from './report.ts';
import { renderCsv } from './report-csv.ts';
import { contractJob, decodeJob } from './testing/jobs.ts';
import { control, decode, kernel } from './testing/records.ts';
import type { JudgeInput } from './judge-input.ts';
import { judge } from './verdict.ts';

function jobOf(input: JudgeInput): JobView {
  return {
    job: `r0123456789.${input.device}.${input.suite}`,
    device: input.device,
    suite: input.suite,
    kind: input.kind,
    state: 'judged',
    evidence: input.evidence,
    adapter: 'SwiftShader Device (LLVM 16.0.0)',
    note: '',
    attempts: [],
    acceptedAttempt: 1,
    legs: [],
    verdicts: [judge(input)],
  };
}

function view(jobs: readonly JobView[], changes: Partial<RunView> = {}): RunView {
  const sealed = seal({ rule: DEFAULT_RULE });
  const arm = (label: string, subject: string): RunView['arms'][number] => ({ label, head: 'a'.repeat(40), tree: 'b'.repeat(40), settings: {}, subject });
  return {
    schema: 1,
    run: 'r0123456789',
    url: 'http://127.0.0.1:4700/runs/r0123456789',
    submittedAt: '2026-11-29T12:00:00Z',
    arms: [arm('HEAD[qmm=scalar]', 'a | b @octocat #12 `tick` <img src=x>'), arm('HEAD[qmm=vec4]', 'same head')],
    pairs: 3,
    rule: DEFAULT_RULE,
    seal: { ...sealed, at: '2026-11-29T12:00:00Z' },
    done: true,
    jobs: [...jobs],
    coverage: [
      { device: 'swiftshader', suite: 'decode', arm: 'HEAD[qmm=vec4]', status: 'measured', note: '' },
      { device: 'b60', suite: 'decode', arm: 'HEAD[qmm=vec4]', status: 'not-run', note: 'nobody serves b60' },
    ],
    ...changes,
  };
}

const timed = (gain: number, shape: Parameters<typeof decodeJob>[1] = {}): JobView =>
  jobOf(decodeJob((leg) => [decode({ totalMs: leg.arm === 0 ? 1000 : 1000 - 10 * gain + leg.pair! })], shape));

describe('renderMarkdown', () => {
  const text = renderMarkdown(view([timed(10), jobOf(contractJob(() => [kernel('qmm-q4'), control('qmm-q4', 'dropped-term')]))]));

  it('states verdict, evidence, seal, gaps and the source of every figure', () => {
    expect(text).toContain('| swiftshader | **software** | decode | `HEAD[qmm=vec4]` | **rule-met** |');
    expect(text).toContain('That is no GPU evidence');
    expect(text).toContain(seal({ rule: DEFAULT_RULE }).sha256);
    expect(text).toContain('Coverage: 1 of 2 device × suite × arm cells measured, 0 void, 0 pending, 1 not run.');
    expect(text).toContain('| b60 | decode | `HEAD[qmm=vec4]` | not-run | `nobody serves b60` |');
    expect(text).toContain('| 1 | baseline-first | 0, 1 | 1000 | 901 | 9.90 % | – |');
    expect(text).toContain('masked: `gates ms`');
    expect(text).toContain('computed from (SHA-256)');
  });

  it('keeps foreign text in code spans, with pipes escaped', () => {
    expect(text).toContain('``a \\| b @octocat #12 `tick` <img src=x>``');
  });

  it('says that an unfinished run is not done', () => expect(renderMarkdown(view([], { done: false }))).toContain('**The run is not done'));

  it('stays under the limit, leaves whole sections out and names them', () => {
    const many = Array.from({ length: 12 }, (_, i) => timed(10, { device: `device-${i}`, pairs: 60, cases: ['story', 'unicode'] }));
    const long = renderMarkdown(view(many));
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(REPORT_BYTES);
    expect(long).toContain('Left out for length');
    expect(long).toContain('| device-11 | **software** | decode |');
    const noted = Array.from({ length: 2000 }, (_, i) => ({
      device: `d${i}`,
      suite: 'decode',
      arm: 'HEAD',
      status: 'not-run' as const,
      note: 'x'.repeat(100),
    }));
    const gaps = renderMarkdown(view([], { coverage: noted }));
    expect(gaps).toContain('Coverage: 0 of 2000 device × suite × arm cells measured, 0 void, 0 pending, 2000 not run.');
    expect(gaps).toContain('and 1900 more, see http://127.0.0.1:4700/runs/r0123456789');
  });
});

describe('a huge run', () => {
  /** 40 devices × 2 suites × 3 cases of 100 pairs, contracts of 60 kernels that drift, and 400 cells that nobody measured. */
  const jobs = Array.from({ length: 40 }, (_, i) => [
    timed(10, { device: `device-${i}`, pairs: 100, cases: ['story', 'unicode', 'document'] }),
    jobOf(
      contractJob((leg) => Array.from({ length: 60 }, (__, k) => kernel(`kernel-${k}`, { worst: 0.5 + 0.001 * k + 0.1 * leg.arm, output: `${leg.arm}` })), {
        device: `device-${i}`,
      }),
    ),
  ]).flat();
  const gaps = Array.from({ length: 400 }, (_, i) => ({
    device: `absent-${i}`,
    suite: 'decode',
    arm: 'HEAD[qmm=vec4]',
    status: 'not-run' as const,
    note: `no agent served it, ${'x'.repeat(80)}`,
  }));
  const huge = view(jobs, { coverage: gaps });
  const text = renderMarkdown(huge);

  it('stays under 60,000 bytes and still states every verdict, the coverage, gaps with their count, and what was left out', () => {
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
    for (let i = 0; i < 40; i++) expect(text).toContain(`| device-${i} | **software** | decode |`);
    expect(text).toContain('Coverage: 0 of 400 device × suite × arm cells measured, 0 void, 0 pending, 400 not run.');
    expect(text).toMatch(/\| absent-0 \| decode \|.*no agent served it/);
    expect(text).toContain('and 300 more, see http://127.0.0.1:4700/runs/r0123456789');
    expect(text).toContain('| device-0 | **software** | `HEAD[qmm=vec4]` | `story` | 100 |');
    expect(text.trimEnd().split('\n').at(-1)).toMatch(
      /^Left out for length, see http:\S+: `the rest of the effects`, .*`pairs of 120 tables, from device-0, story on`, `lines of 40 tables, from device-0, contract on`/,
    );
  });

  it('as CSV loses nothing', () => {
    const rows = renderCsv(huge).trimEnd().split('\r\n');
    expect(rows.filter((row) => row.startsWith('pair,'))).toHaveLength(40 * 3 * 100);
    expect(rows.filter((row) => row.startsWith('coverage,'))).toHaveLength(400);
    expect(rows.filter((row) => row.startsWith('verdict,'))).toHaveLength(80);
  });
});

describe('renderCsv', () => {
  const run = view([timed(10)], {
    corrections: [{ run: 'r0123456789', figure: 'swiftshader/decode#1/story/pair-2/candidateMs', text: 'clock, "capped"', at: '2026-11-30T00:00:00Z' }],
    coverage: [{ device: 'b60', suite: 'decode', arm: '=HYPERLINK("x")', status: 'not-run', note: 'nobody\r\nserves b60' }],
  });
  const rows = renderCsv(run).split('\r\n');

  it('has a row a verdict, case, pair and gap, with unrounded figures and corrections', () => {
    expect(rows.map((row) => row.split(',', 1)[0])).toEqual(['row', 'verdict', 'case', 'pair', 'pair', 'pair', 'coverage', '']);
    const pairs = run.jobs[0]!.verdicts[0]!.effects[0]!.pairs;
    expect(rows[3]).toBe(
      `pair,r0123456789,swiftshader,software,decode,HEAD[qmm=vec4],rule-met,story,1,baseline-first,0,1,1000,901,${pairs[0]!.gainPercent},,,,,`,
    );
    expect(rows[4]).toMatch(/,"clock, ""capped"""$/);
    expect(
      new Set(
        rows
          .slice(0, -1)
          .filter((row) => !row.includes('"'))
          .map((row) => row.split(',').length),
      ),
    ).toEqual(new Set([20]));
  });

  it('holds foreign text as text: one line, quoted, and no formula', () => {
    expect(rows[6]).toBe(`coverage,r0123456789,b60,,decode,"'=HYPERLINK(""x"")",not-run,,,,,,,,,,,,nobody serves b60,`);
  });
});
