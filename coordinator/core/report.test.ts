import { describe, expect, it } from 'vitest';
import type { JobView, RunView } from '../protocol/run.ts';
import { DEFAULT_RULE } from '../protocol/run.ts';
import { seal } from './canonical.ts';
import { REPORT_BYTES, renderMarkdown } from './report.ts';
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
