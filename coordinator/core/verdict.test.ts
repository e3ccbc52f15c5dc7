import { describe, expect, it } from 'vitest';
import { verdict as verdictSchema, type Verdict } from '../protocol/verdict.ts';
import { worstExit } from './exit.ts';
import { contractJob, decodeJob, linesJob, measure, measuredNoise, noiseOf, withLeg } from './testing/jobs.ts';
import { adapter, control, decode, kernel, recordsFile } from './testing/records.ts';
import type { JudgeInput } from './judge-input.ts';
import { parseRule } from './rule.ts';
import { judge, notRunVerdict } from './verdict.ts';
import { withholdGains } from './withhold.ts';

/** Judges, and holds every verdict to the wire's schema. */
function judged(input: JudgeInput): Verdict {
  return verdictSchema.parse(judge(input));
}

/** B60, 24 tokens, as published: 65.019, 65.041 and 64.512 %. */
const BASE = [13536, 13533, 13351];
const CAND = [4735, 4731, 4738];
const published = (changes: Partial<JudgeInput> = {}): JudgeInput =>
  decodeJob((leg) => [decode({ totalMs: (leg.arm === 0 ? BASE : CAND)[leg.pair! - 1]! })], changes);

describe('1: is it valid?', () => {
  const job = published();
  const leg = job.legs[3]!;
  it.each([
    [
      'the lock was lost after a leg',
      withLeg(job, 3, { measure: measure({ lockHeldAfter: false }) }),
      'lock was not held after leg 3 (baseline HEAD[qmm=scalar], story)',
    ],
    ['the lock was never held', withLeg(job, 3, { measure: measure({ outcome: 'void-lock', lockHeldBefore: false }) }), 'lock was not held before leg 3'],
    ['a leg is missing', withLeg(job, 3, { measure: null }), 'leg 3 (baseline HEAD[qmm=scalar], story) was never posted'],
    [
      'a leg timed out',
      withLeg(job, 3, { measure: measure({ outcome: 'timeout', exitCode: 124, note: 'no end after 600 s' }) }),
      'timed out: no end after 600 s',
    ],
    ['the engine broke', withLeg(job, 3, { measure: measure({ outcome: 'broken', exitCode: 70 }) }), 'broke (exit status 70)'],
    ['records are cut', withLeg(job, 3, { records: leg.records!.split('\n').slice(0, -2).join('\n') }), 'are not whole'],
    ['a record line is lost', withLeg(job, 3, { records: leg.records!.split('\n').toSpliced(1, 1).join('\n') }), 'are not whole'],
    ['a record has a later schema', withLeg(job, 3, { records: leg.records!.replaceAll('"schema":1,', '"schema":2,') }), 'cannot be read: records line 1'],
    ['a record is no record', withLeg(job, 3, { records: '{"kind":"later"}\n' }), 'cannot be read'],
    ['no records', withLeg(job, 3, { records: null }), 'wrote no records'],
    [
      'another driver',
      withLeg(job, 3, { records: recordsFile(adapter('SwiftShader Device (LLVM 16.0.0)', 'software', 'test driver 1.1'), [decode()]) }),
      'the adapter changed: leg 0',
    ],
    ['another adapter than the device’s', { ...job, adapter: 'Some GPU' }, 'but the device is Some GPU'],
    ['software on a gpu device', { ...job, evidence: 'gpu' as const }, '(software), but the device is registered as gpu'],
    ['software without consent', { ...job, allowSoftware: false }, 'does not allow software'],
    ['a pair is missing', { ...job, legs: job.legs.slice(0, 4) }, 'story holds 2 of 3 pairs'],
  ])('void: %s', (_, input, reason) => {
    const verdict = judged(input);
    expect(verdict.verdict).toBe('void');
    expect(verdict.reason).toContain(reason);
    expect(verdict.effects).toEqual([]);
  });

  it('not-run when the engine refused every leg, with its reason', () => {
    const refusal = '{"schema":1,"kind":"refused","reason":"model missing: qwen3.5-2b","next":"fleet doctor"}\n';
    const input = { ...job, legs: job.legs.map((item) => ({ ...item, measure: measure({ outcome: 'refused', exitCode: 1 }), records: refusal })) };
    expect(judged(input)).toMatchObject({ verdict: 'not-run', reason: 'the engine refused every leg: model missing: qwen3.5-2b. next: fleet doctor.' });
  });

  it('void, not not-run, when only one leg was refused', () => {
    expect(judged(withLeg(job, 1, { measure: measure({ outcome: 'refused', exitCode: 1, note: 'no adapter' }) })).reason).toContain(
      'leg 1 (candidate HEAD[qmm=vec4], story) was refused: no adapter',
    );
  });
});

describe('a leg that was called wrongly', () => {
  const said = 'engine decode: --set qmm=vec: qmm takes scalar | vec4. next: fleet engine decode --help';
  const log = `cases: 1\nWarning: a driver speaks first\n${said}\n`;
  const wrong = { measure: measure({ outcome: 'usage', exitCode: 2, stdoutBytes: 9, note: 'no records file' }), records: null, log };
  const ended = (index: number): JudgeInput => {
    const input = withLeg(published(), index, wrong);
    return { ...input, legs: input.legs.map((leg) => (leg.index > index ? { ...leg, measure: null, records: null, log: null } : leg)) };
  };

  it('is the reason, in its own last words, although the legs behind it were not run', () => {
    const reason = `leg 1 (candidate HEAD[qmm=vec4], story) was called wrongly (exit status 2): ${said}.`;
    expect(judged(ended(1))).toMatchObject({ verdict: 'void', reason });
  });

  it('is the reason for the other candidates too, whose legs were not run', () => {
    const input = ended(1);
    const legs = input.legs.map((leg) => (leg.index === 1 ? { ...leg, arm: 2 } : leg)).concat({ ...input.legs[1]!, index: 6, measure: null });
    expect(judged({ ...input, legs }).reason).toContain(`leg 1 (another arm, story) was called wrongly (exit status 2): ${said}`);
  });

  it('in a lines suite is a finding', () => {
    const input = linesJob(() => ({ stdout: 'a\n' }));
    const legs = input.legs.map((leg) => ({ ...leg, measure: measure({ outcome: 'usage', exitCode: 2, stdoutBytes: 2 }) }));
    expect(judged({ ...input, legs }).reason).not.toContain('called wrongly');
  });
});

describe('2: is the output the same?', () => {
  it('names the first differing step, and shows no gain however fast the wrong answer is', () => {
    const input = decodeJob((leg) => [decode({ totalMs: leg.arm === 0 ? 1000 : 100, steps: leg.arm === 0 ? ['a', 'b', 'c', 'd'] : ['a', 'b', 'x', 'y'] })]);
    const verdict = judged(input);
    expect(verdict).toMatchObject({ verdict: 'output-differs', effects: [] });
    expect(verdict.identities[0]).toMatchObject({ status: 'differs', firstDifferingStep: 2 });
    expect(verdict.reason).toBe('story: the logits differ, the ids are equal, first differing step 2.');
  });

  it('equal digests over other ids or steps are no equal output', () => {
    const claims = (changes: Partial<ReturnType<typeof decode>>) => judged(decodeJob((leg) => [leg.arm === 0 ? decode() : { ...decode(), ...changes }]));
    expect(claims({ ids: [1, 2, 3, 4] })).toMatchObject({ verdict: 'output-differs', effects: [] });
    expect(claims({ stepDigests: decode().stepDigests.toReversed() }).reason).toContain('a record contradicts itself');
  });

  it('an arm that disagrees with itself differs, even where the first legs agree', () => {
    const verdict = judged(decodeJob((leg) => [decode({ steps: leg.index === 4 ? ['a', 'b', 'c', 'z'] : ['a', 'b', 'c', 'd'] })]));
    expect(verdict.verdict).toBe('output-differs');
    expect(verdict.reason).toContain("the baseline's own legs disagree: leg 0 against leg 4, first at step 3");
  });

  it('pinned ids that no arm produced differ, although the arms agree', () => {
    expect(judged(decodeJob(() => [decode({ pinnedIdsMatch: false })]))).toMatchObject({ verdict: 'output-differs', identities: [{ pinnedIdsMatch: false }] });
  });

  it('a timed pass that did not reproduce the first pass differs', () => {
    expect(judged(decodeJob((leg) => [decode({ checksumsMatch: leg.arm === 0 })])).reason).toContain('did not reproduce');
  });

  const reordered = (identity: JudgeInput['rule']['identity']): JudgeInput =>
    decodeJob((leg) => [decode({ steps: leg.arm === 0 ? ['a', 'b'] : ['a', 'c'], totalMs: leg.arm === 0 ? 1000 : 800 })], {
      rule: { ...published().rule, identity },
    });

  it('ids: equal ids are enough when sealed so', () => {
    expect(judged(reordered('ids'))).toMatchObject({ verdict: 'rule-met', identities: [{ status: 'same', note: 'equal ids; the logits differ from step 1' }] });
  });

  it('logits<=X: undecided while no rows were compared', () => expect(judged(reordered('logits<=1e-4'))).toMatchObject({ verdict: 'undecided', effects: [] }));

  it('differ: met without a gain when they differ, output-differs when they are equal', () => {
    expect(judged(reordered('differ'))).toMatchObject({ verdict: 'rule-met', effects: [] });
    expect(judged(published({ rule: { ...published().rule, identity: 'differ' } })).verdict).toBe('output-differs');
  });

  it('another model is not comparable', () => {
    const verdict = judged(decodeJob((leg) => [decode({ model: leg.arm === 0 ? 'a' : 'b' })]));
    expect(verdict).toMatchObject({ verdict: 'undecided', effects: [] });
    expect(verdict.reason).toContain('different models');
  });
});

describe('4 and 5: rule and effect', () => {
  it('meets the sealed rule on published pairs, and says how little three pairs show', () => {
    const verdict = judged(published());
    expect(verdict.verdict).toBe('rule-met');
    const effect = verdict.effects[0]!;
    expect(effect.pairs.map((pair) => Number(pair.gainPercent.toFixed(3)))).toEqual([65.019, 65.041, 64.512]);
    expect(effect.medianPercent).toBeCloseTo(65.019, 3);
    expect(effect).toMatchObject({ everyPairPositive: true, signFlipP: 0.125, smallestP: 0.125, interval: null, medianWithoutFlaggedPercent: null });
    expect(effect.pairs.map((pair) => [pair.baselineLeg, pair.candidateLeg, pair.order])).toEqual([
      [0, 1, 'baseline-first'],
      [3, 2, 'candidate-first'],
      [4, 5, 'baseline-first'],
    ]);
    expect(verdict.calibration).toBe('no A/A calibration');
    expect(verdict.reason).toContain('no A/A calibration');
  });

  const gains = (percents: readonly number[], changes: Partial<JudgeInput> = {}): JudgeInput =>
    decodeJob((leg) => [decode({ totalMs: leg.arm === 0 ? 1000 : 1000 - 10 * percents[leg.pair! - 1]! })], { pairs: percents.length, ...changes });

  it('is not met when one pair is not positive, or the median is below the threshold', () => {
    expect(judged(gains([9, -0.1, 9]))).toMatchObject({ verdict: 'rule-not-met', reason: 'story: median 9 % ≥ 3 %, 2 of 3 pairs positive.' });
    expect(judged(gains([2.9, 2.9, 2.9])).reason).toContain('median 2.9 % < 3 %');
  });

  it('is not met at or below the device’s A/A floor', () => {
    const calibration = noiseOf(measuredNoise('story', 6));
    const floor = judged(gains([9, 9, 9], { calibration })).calibrations![0]!.floorPercent;
    expect(floor).toBeGreaterThan(4);
    const below = judged(gains(Array<number>(3).fill(floor - 0.01), { calibration }));
    expect(below).toMatchObject({ verdict: 'rule-not-met', effects: [{ ruleMet: false }] });
    expect(below.reason).toContain('not above the A/A floor');
    const above = judged(gains(Array<number>(3).fill(floor + 0.01), { calibration }));
    expect(above.verdict).toBe('rule-met');
    expect(above.reason).toMatch(/, above the A\/A floor of [\d.]+ %\.$/);
    expect(above.calibration).toMatch(/^story: A\/A floor [\d.]+ % of 3 pairs; .* \(run r2a8d11m4kp, 2026-11-20, 20 pairs\)$/);
  });

  it('asks for a stale floor too, and says that it is stale', () => {
    const calibration = noiseOf(measuredNoise('story', 6, { driver: 'test driver 0.9' }));
    expect(judged(gains([4, 4, 4], { calibration })).verdict).toBe('rule-not-met');
    const met = judged(gains([20, 20, 20], { calibration }));
    expect(met.reason).toMatch(/above the A\/A floor of [\d.]+ %, which is stale\.$/);
    expect(met.calibrations![0]!.stale).toBe('the driver was test driver 0.9, and is test driver 1.0');
    expect(met.calibration).toMatch(/; STALE: the driver was .*\. next: fleet calibrate --device swiftshader$/);
  });

  it('says which case has no calibration, and that a device has none at all', () => {
    const two = decodeJob((leg) => [decode({ prompt: leg.case, totalMs: leg.arm === 0 ? 1000 : 800 })], {
      cases: ['story', 'unicode'],
      calibration: noiseOf(measuredNoise('story', 1)),
    });
    expect(judged(two).reason).toMatch(/; no A\/A calibration of unicode\.$/);
    const none = judged(gains([20, 20, 20], { calibration: noiseOf() }));
    expect(none).toMatchObject({ verdict: 'rule-met', calibration: 'no A/A calibration. next: fleet calibrate --device swiftshader' });
    expect(none).not.toHaveProperty('calibrations');
  });

  it('two pairs decide nothing, and the reason says how many more are needed', () => {
    const verdict = judged(gains([9, 9]));
    expect(verdict).toMatchObject({ verdict: 'undecided' });
    expect(verdict.reason).toBe('story: 2 pairs decide nothing (least p 0.25): at least 3 pairs are needed, and 5 can reach p ≤ 0.05; fleet pairs add RUN 1.');
  });

  it('flags a leg in another mode, keeps it in the binding figure and shows the figure without', () => {
    const verdict = judged(decodeJob((leg) => [decode({ totalMs: leg.arm === 0 ? 1000 : leg.pair === 2 ? 1700 : 900 })], { pairs: 5 }));
    const effect = verdict.effects[0]!;
    expect(effect.pairs[1]!.flags).toEqual(['candidate leg 1.89× its arm’s median: another mode']);
    expect(effect.medianPercent).toBeCloseTo(10);
    expect(effect.minPercent).toBeCloseTo(-70);
    expect(effect.medianWithoutFlaggedPercent).toBeCloseTo(10);
    expect(verdict.verdict).toBe('undecided');
    expect(verdict.reason).toContain('not met with, and met without, the pair flagged');
  });

  it('times that are not of the same interval are not compared', () => {
    expect(judged(decodeJob((leg) => [decode({ definition: leg.arm === 0 ? 'prefill + decode' : 'decode' })]))).toMatchObject({
      verdict: 'undecided',
      effects: [],
    });
  });

  it('an untimed decode is same', () => expect(judged(decodeJob(() => [decode()], { timed: false }))).toMatchObject({ verdict: 'same', effects: [] }));

  it('a case that only one arm has keeps a good verdict from being one', () => {
    const verdict = judged(published({ notComparable: [{ case: 'unicode', note: 'not in the candidate’s manifest' }] }));
    expect(verdict.verdict).toBe('undecided');
    expect(verdict.identities.map((item) => item.status)).toEqual(['same', 'not-comparable']);
  });
});

describe('contract suites', () => {
  const kernels = (changes: Parameters<typeof kernel>[1] = {}, caught = true) => [
    kernel('qmm-q4', changes),
    control('qmm-q4', 'dropped-term', caught),
    kernel('rms-norm'),
    control('rms-norm', 'no-eps'),
  ];
  const job = (left: ReturnType<typeof kernels>, right: ReturnType<typeof kernels>): JudgeInput => contractJob((leg) => (leg.arm === 0 ? left : right));

  it('same when every kernel, control and the SUMMARY line agree outside of the time', () => {
    const verdict = judged(job(kernels(), kernels()));
    expect(verdict.verdict).toBe('same');
    expect(verdict.lines).toMatchObject([{ status: 'equal', masked: ['gates ms'] }]);
    expect(verdict.lines[0]!.baseline).toContain('2 kernels: 2 pass gates 1-4, 0 fail');
  });

  it('says that settings which differ reached no leg of a suite that takes none', () => {
    const input: JudgeInput = { ...job(kernels(), kernels()), oneCommand: true };
    expect(judged(input)).toMatchObject({
      verdict: 'same',
      reason: expect.stringMatching(/; the suite takes no settings, so both arms ran the same command\.$/),
    });
    expect(judged(job(kernels(), kernels())).reason).not.toContain('takes no settings');
  });

  it.each([{ planted: false }, {}])('a fault that the candidate does not take is not planted, not missed: %j', (marked) => {
    const gone = kernels().map((record) =>
      record.kind === 'contract-control' && record.control === 'no-eps'
        ? { ...record, ...marked, caught: false, detail: 'not planted: it occurs 0 times' }
        : record,
    );
    const verdict = judged(job(kernels(), gone));
    expect(verdict.verdict).toBe('new-failure');
    expect(verdict.reason).toMatch(/^every gate holds, but a fault can no longer be planted in the candidate: rms-norm \/ control no-eps/);
    expect(verdict.contract.find((row) => row.kernel.includes('no-eps'))).toMatchObject({
      candidate: 'not planted, gate 3',
      note: 'not planted: it occurs 0 times. next: update "find" in kernels/rms-norm/rms-norm.control.ts',
    });
  });

  it('says so when bits differ within bounds', () => {
    expect(judged(job(kernels(), kernels({ output: 'other sums' }))).contract[0]).toMatchObject({
      status: 'same',
      note: 'output bits differ in 1 of 1 cases, within bounds',
    });
  });

  it.each([
    [
      'new-failure',
      'a kernel fails in the candidate',
      kernels(),
      kernels({ status: 'fail', failure: '1x64x64 is 40 times its bound' }),
      'gate 3 shapes: 1x64x64 is 40 times its bound',
    ],
    ['new-failure', 'a control is missed', kernels(), kernels({}, false), 'no longer caught'],
    ['new-failure', 'a limit fails', kernels(), kernels({ limitFailures: 1 }), 'limits: workgroup memory'],
    ['new-failure', 'a pass became a known finding', kernels(), kernels({ status: 'known' }), 'known finding'],
    ['fixed', 'a kernel fails in the baseline only', kernels({ status: 'fail' }), kernels(), 'fails in the baseline only'],
    ['pre-existing', 'it fails in both', kernels({ status: 'fail' }), kernels({ status: 'fail' }), 'fails in both arms'],
    ['pre-existing', 'a control is missed in both', kernels({}, false), kernels({}, false), 'fails in both arms'],
    [
      'same',
      'a kernel is skipped in both',
      kernels({ status: 'skipped' }),
      kernels({ status: 'skipped' }),
      '1 kernels and 2 controls give the same result in both arms, none fails or is missed, 1 skipped for an absent feature',
    ],
    ['output-differs', 'a kernel is skipped in one', kernels(), kernels({ status: 'skipped' }), 'skipped in one arm: feature absent'],
    [
      'not-run',
      'every kernel is skipped',
      kernels({ status: 'skipped' }).slice(0, 1),
      kernels({ status: 'skipped' }).slice(0, 1),
      'every kernel was skipped: feature absent',
    ],
    ['same', 'a known finding in both', kernels({ status: 'known' }), kernels({ status: 'known' }), 'same result'],
    ['output-differs', 'the contract file changed', kernels(), kernels({ files: { contract: 'weaker' } }), 'contract changed: qmm-q4 (contract differs'],
    [
      'output-differs',
      'a failing kernel passes under a changed reference',
      kernels({ status: 'fail' }),
      kernels({ files: { reference: 'other' } }),
      'contract changed: qmm-q4 (reference differs',
    ],
    [
      'output-differs',
      'what contracts share changed',
      kernels(),
      kernels({ files: { harness: 'weaker' } }),
      'contract changed: qmm-q4 (code shared by contracts',
    ],
    ['output-differs', 'a failure became a known finding', kernels({ status: 'fail' }), kernels({ status: 'known' }), 'declared a known finding'],
    ['output-differs', 'a case is gone', kernels(), kernels({ case: 'another' }), 'did not run 1 of the baseline'],
    ['new-failure', 'a pass with a failing gate', kernels(), kernels({ doctored: { 3: { status: 'fail', checks: 1, detail: 'off' } } }), 'gate 3 shapes: off'],
    ['new-failure', 'a pass that compared nothing', kernels(), kernels({ doctored: { 3: { status: 'pass', checks: 0, detail: '' } } }), 'compared nothing'],
    ['output-differs', 'a kernel is gone', kernels(), kernels().slice(2), 'only in the baseline'],
    ['same', 'the shader alone changed', kernels(), kernels({ files: { wgsl: 'faster', wrapper: 'other' } }), 'same result'],
  ])('%s: %s', (word, _, left, right, reason) => {
    const verdict = judged(job(left, right));
    expect(verdict.verdict).toBe(word);
    expect(verdict.reason).toContain(reason);
  });

  it('names three rows in its reason and counts the rest', () => {
    const many = (status: 'pass' | 'fail') => Array.from({ length: 5 }, (_, i) => kernel(`k${i}`, { status, failure: 'off' }));
    const verdict = judged(contractJob((leg) => many(leg.arm === 0 ? 'pass' : 'fail')));
    expect(verdict.reason).toBe('fails in the candidate only: k0 (gate 3 shapes: off); k1 (gate 3 shapes: off); k2 (gate 3 shapes: off); and 2 more.');
    expect(verdict.contract).toHaveLength(5);
  });

  it('a contract failure withholds the gain of its device and candidate, and of no other', () => {
    const broken = judged(job(kernels(), kernels({ status: 'fail' })));
    const fast = judged(published());
    const elsewhere = judged(published({ device: 'lavapipe' }));
    const [first, second, third] = withholdGains([broken, fast, elsewhere]);
    expect(first).toEqual(broken);
    expect(second).toMatchObject({ verdict: 'undecided', effects: [], reason: "Gain withheld: on this device the candidate's suite contract is new-failure." });
    expect(third).toEqual(elsewhere);
    expect(withholdGains(withholdGains([broken, fast]))).toEqual(withholdGains([broken, fast]));
    expect(withholdGains([judged(job(kernels(), kernels())), fast])[1]).toEqual(fast);
  });
});

describe('lines suites', () => {
  const line = (ms: number, missed = 0): string =>
    `SUMMARY Apple M1 (G13G B1) 3 kernels: 3 pass gates 1-4, 0 fail, 0 known findings; 8 controls: ${8 - missed} caught, ${missed} missed; 0 limit failures; gates ${ms} ms\n`;

  it('same outside of masked times; stderr is not compared', () => {
    const verdict = judged(linesJob((leg) => ({ stdout: line(32345 + leg.arm), stderr: leg.arm === 0 ? '' : 'warning\n' })));
    expect(verdict).toMatchObject({ verdict: 'same', reason: '1 line of 1 case equal, outside of the masked gates ms.' });
  });

  it.each([
    ['new-failure', { stdout: line(1) }, { stdout: line(1, 1) }, '1 failure against 0'],
    ['fixed', { stdout: 'passed=14 total=15\n' }, { stdout: 'passed=15 total=15\n' }, '0 failures against 1'],
    ['pre-existing', { stdout: 'passed=14 total=15\n' }, { stdout: 'passed=14 total=15\n' }, 'same 1 failure in both'],
    ['new-failure', { stdout: 'ok\n' }, { stdout: 'ok\n', exitCode: 1 }, 'the candidate exits with 1, the baseline exits with 0'],
    ['fixed', { stdout: 'ok\n', exitCode: 3 }, { stdout: 'ok\n' }, 'the baseline exits with 3'],
    ['pre-existing', { stdout: 'ok\n', exitCode: 1 }, { stdout: 'ok\n', exitCode: 1 }, 'both arms exit with 1'],
    ['output-differs', { stdout: 'passed=21 total=21\n' }, { stdout: 'passed=20 total=20\n' }, 'first "passed=21 total=21" against "passed=20 total=20"'],
    ['output-differs', { stdout: 'a\nb\n' }, { stdout: 'a\n' }, 'first "b" against no line'],
  ])('%s: %j → %j', (word, left, right, reason) => {
    const verdict = judged(linesJob((leg) => (leg.arm === 0 ? left : right)));
    expect(verdict.verdict).toBe(word);
    expect(verdict.reason).toContain(reason);
  });

  it.each([
    ['SIGKILL', 'void', 'was ended from outside by SIGKILL'],
    ['SIGTERM', 'void', 'was ended from outside by SIGTERM'],
    ['SIGSEGV', 'fixed', 'the baseline was ended by SIGSEGV'],
  ])('a baseline ended by %s is %s: only a crash is the head’s own', (signal, word, reason) => {
    const job = withLeg(
      linesJob(() => ({ stdout: 'ok\n' })),
      0,
      { measure: measure({ outcome: 'signal', exitCode: null, signal, stdoutBytes: 3 }) },
    );
    const verdict = judged(job);
    expect(verdict.verdict).toBe(word);
    expect(verdict.reason).toContain(reason);
  });

  it('void when stdout may have been cut, but not when only stderr was', () => {
    const most = 'x'.repeat(1024 * 1024 - 2);
    expect(judged(linesJob(() => ({ stdout: most })))).toMatchObject({ verdict: 'void' });
    expect(judged(linesJob(() => ({ stdout: 'ok\n', stderr: most })))).toMatchObject({ verdict: 'same' });
  });
});

it('computedFrom depends on the records, the rule, and nothing else', () => {
  const hash = judged(published()).computedFrom;
  expect(judged(published()).computedFrom).toBe(hash);
  expect(judged(withLeg(published(), 2, { records: `${published().legs[2]!.records!}\n` })).computedFrom).not.toBe(hash);
  expect(judged(published({ rule: parseRule('median >= 4%') })).computedFrom).not.toBe(hash);
});

it('a job that failed is not-run, with the reason', () => {
  const verdict = notRunVerdict({ device: 'b60', suite: 'decode', candidate: 'HEAD', evidence: 'gpu' }, 'npm ci failed in the baseline');
  expect(verdictSchema.parse(verdict)).toMatchObject({ verdict: 'not-run', reason: 'npm ci failed in the baseline.', effects: [] });
});

it('exits with the worst: wrong, then unknown, then well', () => {
  expect(worstExit(['same', 'rule-met'])).toBe(0);
  expect(worstExit(['same', 'void'])).toBe(3);
  expect(worstExit(['void', 'new-failure', 'same'])).toBe(1);
  expect(worstExit([])).toBe(3);
});
