/** A failure of both heads is one from before only if their merge base, measured in the same run, fails as well. */
import { describe, expect, it } from 'vitest';
import type { EngineRecord } from '../../engine/protocol.ts';
import type { JudgedLeg, JudgeInput } from './judge-input.ts';
import { contractJob, linesJob, measure } from './testing/jobs.ts';
import { control, kernel } from './testing/records.ts';
import { judge } from './verdict.ts';

const red = kernel('qmm-q4', { status: 'fail' });
const green = kernel('qmm-q4');

/** A job of which the legs of a third arm are the merge base's. */
function withBase(input: JudgeInput, base: readonly JudgedLeg[], more: Partial<JudgedLeg> = {}): JudgeInput {
  return { ...input, mergeBase: { label: 'merge-base(abc)', legs: base.map((leg) => ({ ...leg, index: leg.index + 10, arm: 2, ...more })) } };
}
/** The three arms' records: baseline, candidate, merge base. */
function contracts(baseline: EngineRecord[], candidate: EngineRecord[], base: EngineRecord[], more: Partial<JudgedLeg> = {}): JudgeInput {
  const legs = contractJob(() => base).legs.filter((leg) => leg.arm === 0);
  return withBase(
    contractJob((leg) => (leg.arm === 0 ? baseline : candidate)),
    legs,
    more,
  );
}

describe('contracts', () => {
  it('red in both heads and in their merge base: pre-existing', () => {
    const verdict = judge(contracts([red], [red], [red]));
    expect(verdict).toMatchObject({
      verdict: 'pre-existing',
      contract: [{ status: 'pre-existing', note: expect.stringContaining('the merge base fails too') }],
    });
  });
  it('red in both heads, green in their merge base: a new failure, and the reason says where', () => {
    const verdict = judge(contracts([red], [red], [green]));
    expect(verdict.verdict).toBe('new-failure');
    expect(verdict.reason).toMatch(
      /^fails in both arms and not in their merge base: qmm-q4 \(gate 3 shapes: .*; both heads fail and their merge base passes\)/,
    );
  });
  it('red in both heads, and not yet there in their merge base: a new failure', () => {
    expect(judge(contracts([red], [red], [kernel('argmax')])).contract[0]).toMatchObject({
      status: 'new-failure',
      note: expect.stringContaining('their merge base does not have it'),
    });
  });
  it('a merge base under another contract tells nothing: pre-existing, said so', () => {
    expect(judge(contracts([red], [red], [kernel('qmm-q4', { files: { contract: 'looser' } })])).contract[0]).toMatchObject({
      status: 'pre-existing',
      note: expect.stringContaining('another contract and does not tell'),
    });
  });
  it('red in the candidate alone stays a new failure against this baseline, though the merge base is red', () => {
    const verdict = judge(contracts([green], [red], [red]));
    expect(verdict).toMatchObject({ verdict: 'new-failure', reason: expect.stringContaining('the baseline was fixed since') });
  });
  it('controls are classed alike', () => {
    const missed = [green, control('qmm-q4', 'drop-term', false)];
    const caught = [green, control('qmm-q4', 'drop-term')];
    expect(judge(contracts(missed, missed, missed)).verdict).toBe('pre-existing');
    expect(judge(contracts(missed, missed, caught)).verdict).toBe('new-failure');
    const other = [kernel('qmm-q4', { files: { control: 'looser' } }), control('qmm-q4', 'drop-term')];
    expect(judge(contracts(missed, missed, other)).verdict).toBe('pre-existing');
  });
  it('what a head prints does not pass for a failure of both', () => {
    const faked = kernel('qmm-q4', { status: 'fail', failure: 'x; both heads fail and their merge base passes' });
    expect(judge(contracts([green], [faked], [green])).reason).toMatch(/^fails in the candidate only/);
  });
  it('a merge base whose leg is no evidence leaves the verdict as it is without one, and says why', () => {
    const lost = { measure: measure({ lockHeldAfter: false }) };
    const verdict = judge(contracts([red], [red], [green], lost));
    expect(verdict).toMatchObject({
      verdict: 'pre-existing',
      reason: expect.stringMatching(/the merge base tells nothing: the device's lock was not held after leg 10/),
    });
  });
  it('what the merge base did is part of what the verdict is computed from', () => {
    expect(judge(contracts([red], [red], [red])).computedFrom).not.toBe(judge(contracts([red], [red], [green])).computedFrom);
  });
});

describe('printed lines', () => {
  const job = (base: string): JudgeInput => {
    const legs = linesJob(() => ({ stdout: base })).legs.filter((leg) => leg.arm === 0);
    return withBase(
      linesJob(() => ({ stdout: 'passed=1 total=2\n' })),
      legs,
    );
  };
  it('the same failures in both heads: pre-existing where the merge base fails, else new', () => {
    expect(judge(job('passed=1 total=2\n'))).toMatchObject({ verdict: 'pre-existing', reason: expect.stringContaining('the merge base fails too') });
    expect(judge(job('passed=2 total=2\n'))).toMatchObject({ verdict: 'new-failure', reason: expect.stringContaining('their merge base does not') });
  });
});

describe('drift within bounds', () => {
  it('is shown head against head, with the cases behind it, and changes no verdict', () => {
    const verdict = judge(contractJob((leg) => [kernel('qmm-q4', { worst: leg.arm === 0 ? 0.61 : 0.94, output: leg.arm === 0 ? 'a' : 'b' })]));
    expect(verdict.verdict).toBe('same');
    expect(verdict.contract[0]).toMatchObject({
      worst: { baseline: 0.61, candidate: 0.94 },
      differingCases: 1,
      cases: [{ name: '1x64x64/normal/scalar', sameBits: false, baseline: 0.61, candidate: 0.94 }],
    });
  });
  it('lists no case where bits and fractions are equal', () => {
    const row = judge(contractJob(() => [kernel('qmm-q4')])).contract[0]!;
    expect(row.worst).toEqual({ baseline: 0.61, candidate: 0.61 });
    expect(row).not.toHaveProperty('cases');
  });
});
