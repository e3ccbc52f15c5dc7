import { describe, expect, it } from 'vitest';
import { manifestSuite } from '../protocol/manifest.ts';
import { DEFAULT_RULE } from '../protocol/run.ts';
import { seal } from './canonical.ts';
import { judgeJobOf } from './judge-job.ts';
import { contractJob } from './testing/jobs.ts';
import { control, kernel } from './testing/records.ts';

const HEAD = 'a'.repeat(40);
const arm = (settings: Record<string, string>, head = HEAD) => ({ label: `HEAD${JSON.stringify(settings)}`, head, settings, tree: 'b'.repeat(40) });

describe('a contract of two arms that differ in their settings alone', () => {
  const { legs, adapter: _, ...input } = contractJob(() => [kernel('copy'), control('copy', 'off by one')]);
  const reasonOf = (arms: ReturnType<typeof arm>[], settings: boolean): string => {
    const sealText = seal({ schema: 2, arms, pairs: 3, rule: DEFAULT_RULE, forecast: null, allowSoftware: true, suites: [] }).text;
    const spec = manifestSuite.parse({ kind: 'contract', command: ['node'], cases: [{ name: 'all' }], settings });
    const job = { device: input.device, suite: 'contract', spec, evidence: input.evidence, adapter: legs[0]!.records!.match(/"name":"(Swift[^"]*)"/)![1]! };
    const run = { sealText, allowSoftware: true, labels: arms.map((item) => item.label) };
    const [only] = judgeJobOf(run, { ...job, arms: [0, 1], notComparable: [] }, legs, 3, null);
    expect(only!.verdict.verdict).toBe('same');
    return only!.verdict.reason;
  };

  it('says that both ran the same command, where the suite takes no settings', () => {
    const arms = [arm({ qmm: 'scalar' }), arm({ qmm: 'vec4' })];
    expect(reasonOf(arms, false)).toMatch(/; the suite takes no settings, so both arms ran the same command\.$/);
    expect(reasonOf(arms, true)).not.toContain('takes no settings');
  });

  it('says nothing of it for two heads, or for one arm against itself', () => {
    expect(reasonOf([arm({ qmm: 'scalar' }), arm({ qmm: 'vec4' }, 'c'.repeat(40))], false)).not.toContain('takes no settings');
    expect(reasonOf([arm({}), arm({})], false)).not.toContain('takes no settings');
  });
});
