/** Verdicts by rules, forecasts and times of one's own. */
import { describe, expect, it } from 'vitest';
import { verdict as verdictSchema, type Verdict } from '../protocol/verdict.ts';
import { parseForecast } from './forecast.ts';
import type { JudgeInput } from './judge-input.ts';
import { parseRule } from './rule.ts';
import { contractJob, decodeJob, linesJob } from './testing/jobs.ts';
import { PUBLISHED_PAIRS } from './testing/oracle.ts';
import { decode, kernel } from './testing/records.ts';
import { judge } from './verdict.ts';
import { withholdGains } from './withhold.ts';

const { baseline: BASE, candidate: CAND } = PUBLISHED_PAIRS[0]!;
const judged = (input: JudgeInput): Verdict => verdictSchema.parse(judge(input));
const published = (changes: Partial<JudgeInput> = {}): JudgeInput =>
  decodeJob((leg) => [decode({ totalMs: (leg.arm === 0 ? BASE : CAND)[leg.pair! - 1]! })], changes);

describe('rules of one’s own', () => {
  const ruled = (text: string, changes: Partial<JudgeInput> = {}): Verdict => judged(published({ rule: parseRule(text), ...changes }));

  it('are what the verdict is computed from, and says', () => {
    expect(ruled('median >= 66%')).toMatchObject({ verdict: 'rule-not-met', reason: 'story: median 65.019 % < 66 %.' });
    expect(ruled('every pair >= 64.6%').reason).toBe('story: 2 of 3 pairs ≥ 64.6 %.');
    expect(ruled('estimate > 60% and p <= 0.125').verdict).toBe('rule-met');
  });

  it('stay undecided where this many pairs cannot answer them, with how many more can', () => {
    const verdict = ruled('median >= 3% and p <= 0.05');
    expect(verdict).toMatchObject({ verdict: 'undecided', effects: [{ ruleMet: false }] });
    expect(verdict.reason).toContain('p 0.125, and 3 pairs cannot reach ≤ 0.05; 2 more pairs are needed');
    expect(ruled('low > 0').reason).toContain('3 more pairs are needed');
  });

  it('stay undecided where they ask for the A/A floor alone and there is none', () => {
    const verdict = ruled('median > floor and low > floor');
    expect(verdict).toMatchObject({ verdict: 'undecided', effects: [{ ruleMet: false }] });
    expect(verdict.reason).toContain('asks for the A/A floor alone, and there is no calibration. next: fleet calibrate');
  });

  it('may ask nothing of the gain', () => {
    const verdict = judged(decodeJob((leg) => [decode({ totalMs: leg.arm === 0 ? 100 : 900 })], { pairs: 1, rule: parseRule('identity exact') }));
    expect(verdict).toMatchObject({ verdict: 'rule-met', effects: [{ ruleNote: 'the rule asks nothing of the gain' }] });
  });
});

describe('forecasts', () => {
  const forecast = parseForecast('story: 15% to 35% (80%)');

  it('are scored with the verdict, whatever the rule says', () => {
    expect(judged(published({ forecast })).forecasts).toMatchObject([{ case: 'story', hit: false, confidencePercent: 80 }]);
    expect(judged(published({ forecast, rule: parseRule('median >= 90%') })).forecasts).toHaveLength(1);
  });

  it('are not scored where no gain may be shown', () => {
    const wrong = decodeJob((leg) => [decode({ steps: leg.arm === 0 ? ['a'] : ['b'] })], { forecast });
    expect(judged(wrong)).toMatchObject({ verdict: 'output-differs', forecasts: [] });
    const failing = judged(contractJob((leg) => [kernel('qmm-q4', { status: leg.arm === 0 ? 'pass' : 'fail' })]));
    expect(withholdGains([failing, judged(published({ forecast }))])[1]).toMatchObject({ verdict: 'undecided', forecasts: [] });
  });
});

describe('timed lines', () => {
  const pair = (leg: { pair: number | null }): number => leg.pair! - 1;
  const replay = (changes: Partial<JudgeInput> = {}, text = (ms: number): string => `RESULT unicode decode_ms=${ms}: passed=1 total=1\n`): JudgeInput =>
    linesJob((leg) => ({ stdout: text((leg.arm === 0 ? BASE : CAND)[pair(leg)]!) }), { timed: true, time: 'decode_ms', ...changes });

  it('are judged by the sealed rule on the printed field', () => {
    const verdict = judged(replay());
    expect(verdict.verdict).toBe('rule-met');
    expect(verdict.effects[0]!.pairs.map((row) => Number(row.gainPercent.toFixed(3)))).toEqual([65.019, 65.041, 64.512]);
    expect(verdict.effects[0]!.metric).toBe('the printed field decode_ms');
    expect(verdict.reason).toContain('1 line of 1 case equal, outside of the masked decode_ms');
  });

  it('take the wall time where no field is named', () => {
    const job = linesJob(() => ({ stdout: 'ok\n' }), { timed: true });
    const timed = { ...job, legs: job.legs.map((leg) => ({ ...leg, measure: { ...leg.measure!, wallMs: leg.arm === 0 ? 1000 : 800 } })) };
    expect(judged(timed).effects[0]).toMatchObject({ medianPercent: 20, metric: 'wall time of the process, by the agent’s clock' });
  });

  it('show no gain for other lines, nor a time that is not there once', () => {
    const wrong = linesJob((leg) => ({ stdout: `decode_ms=${leg.arm === 0 ? 9 : 1}: passed=${leg.arm} total=1\n` }), { timed: true, time: 'decode_ms' });
    expect(judged(wrong)).toMatchObject({ verdict: 'fixed', effects: [] });
    expect(judged(replay({ time: 'load_ms' }))).toMatchObject({ verdict: 'void', effects: [] });
    expect(judged(replay({ time: 'load_ms' })).reason).toContain('prints 0 times as load_ms');
    expect(judged(replay({}, (ms) => `decode_ms=${ms} decode_ms=${ms}\n`)).reason).toContain('prints 2 times');
    expect(judged(replay({}, () => 'decode_ms=0\n')).reason).toContain('no positive time');
  });
});
