import { describe, expect, it } from 'vitest';
import { DEFAULT_RULE } from '../protocol/run.ts';
import { seal, sha256Hex } from './canonical.ts';
import { parseForecast } from './forecast.ts';
import { planLegs } from './plan.ts';
import { parseRule } from './rule.ts';
import { readSeal, sealDefect, type StoredRun } from './sealed.ts';

const arms = ['base', 'cand'].map((label) => ({ label, head: 'a'.repeat(40), settings: {}, tree: 'b'.repeat(40) }));
const spec = { kind: 'lines', cases: [{ name: 'story', args: ['--steps', '4'] }], timed: true };
const order = planLegs({ arms: 2, cases: ['story'], timed: true, pairs: 3 });
const text = (changes: object = {}): { text: string; sha256: string } =>
  seal({
    schema: 2,
    arms,
    pairs: 3,
    rule: DEFAULT_RULE,
    forecast: null,
    allowSoftware: false,
    devices: ['b60'],
    suites: [{ name: 'decode', spec, arms: [0, 1], notComparable: [], pinnedIds: { story: [1, 2] }, order }],
    notRun: [],
    ...changes,
  });
const sealed = text();
const stored: StoredRun = {
  sealText: sealed.text,
  sealSha256: sealed.sha256,
  sealEvent: sealed.sha256,
  rule: DEFAULT_RULE,
  pairs: 3,
  allowSoftware: false,
  arms,
  jobs: [{ suite: 'decode', spec, legs: order.map((leg) => ({ ...leg, args: ['--steps', '4'], pinnedIds: [1, 2] })) }],
};
const job = stored.jobs[0]!;

describe('sealDefect', () => {
  it('finds nothing in what was sealed', () => expect(sealDefect(stored)).toBeNull());

  const easier = text({ rule: parseRule('median >= 0%') });
  it.each<[string, Partial<StoredRun>, string]>([
    [
      'an easier rule',
      { rule: parseRule('median >= 0%') },
      `the rule was changed after sealing: sealed "${DEFAULT_RULE.text}", stored "identity exact and median >= 0%"`,
    ],
    ['another text', { sealText: easier.text }, 'the sealed text was changed: it hashes to'],
    ['another text and hash', { sealText: easier.text, sealSha256: easier.sha256, rule: parseRule('median >= 0%') }, 'the seal was replaced'],
    ['fewer pairs', { pairs: 2 }, 'sealed 3, stored 2'],
    ['consent to software', { allowSoftware: true }, 'consent to software'],
    ['another head', { arms: [arms[0]!, { ...arms[1]!, head: 'c'.repeat(40) }] }, 'the arms were changed'],
    ['another order', { jobs: [{ ...job, legs: job.legs.toReversed() }] }, 'the order of the legs of decode'],
    ['fewer legs', { jobs: [{ ...job, legs: job.legs.slice(2) }] }, 'the order of the legs of decode'],
    ['other arguments', { jobs: [{ ...job, legs: job.legs.map((leg) => ({ ...leg, args: [] })) }] }, 'the arguments of legs'],
    ['other pinned ids', { jobs: [{ ...job, legs: job.legs.map((leg) => ({ ...leg, pinnedIds: null })) }] }, 'the pinned ids'],
    ['another command', { jobs: [{ ...job, spec: { ...spec, command: ['true'] } }] }, 'suite decode was changed'],
    ['a suite more', { jobs: [{ ...job, suite: 'gates' }] }, 'suite gates was added'],
    ['a text of no schema', { sealText: '{}', sealSha256: sha256Hex('{}'), sealEvent: null }, 'none that this version of fleet can read'],
  ])('%s', (_, change, reason) => expect(sealDefect({ ...stored, ...change })).toContain(reason));
});

describe('readSeal', () => {
  it('gives rule and forecast as sealed', () => {
    const forecast = parseForecast('story: 5% to 15% (80%)');
    expect(readSeal(text({ forecast }).text)).toEqual({ rule: DEFAULT_RULE, forecast, extends: null, stack: false });
  });

  it('knows the seed of the order, and none of seals that were made before there was one', () => {
    expect(readSeal(text({ seed: 7 }).text).seed).toBe(7);
    expect(readSeal(text().text)).not.toHaveProperty('seed');
  });

  it('reads seals of schema 1, whose rule had no grammar', () => {
    const old = { identity: 'exact', medianPercent: 3, everyPairPositive: true };
    const first = text({ schema: 1, rule: old });
    expect(readSeal(first.text)).toEqual({ rule: DEFAULT_RULE, forecast: null, extends: null, stack: false });
    expect(readSeal(text({ schema: 1, rule: { ...old, everyPairPositive: false, medianPercent: 2 } }).text).rule.text).toBe(
      'identity exact and median >= 2% and median > floor',
    );
    expect(sealDefect({ ...stored, sealText: first.text, sealSha256: first.sha256, sealEvent: null, rule: old })).toBeNull();
  });
});
