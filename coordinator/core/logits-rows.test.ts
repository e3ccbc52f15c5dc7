import { describe, expect, it } from 'vitest';
import type { RowsComparison } from '../protocol/run.ts';
import { rowsToCompare } from './logits-rows.ts';
import { parseRule } from './rule.ts';
import { decodeJob, measure } from './testing/jobs.ts';
import { decode } from './testing/records.ts';
import { judge } from './verdict.ts';

const A = ['a', 'b', 'c', 'd'];
const B = ['a', 'b', 'c2', 'd'];
const digest = (steps: readonly string[]): string => decode({ steps }).digest;

const attested = (more: Partial<RowsComparison> = {}): RowsComparison => ({
  baselineLeg: 0,
  candidateLeg: 1,
  baselineSha256: digest(A),
  candidateSha256: digest(B),
  rows: 4,
  columns: 248_320,
  idsEqual: true,
  firstDifferingStep: 2,
  marginThere: 2.5,
  maxAbsDifference: 1.2e-6,
  atStep: 3,
  note: '',
  ...more,
});
/** Reordered sums: other digests, equal ids, half the time; the candidate's first leg carries the agent's comparison. */
function verdictOf(rows: RowsComparison | null, rule: string, ids?: readonly number[]) {
  const input = decodeJob((leg) => [decode({ steps: leg.arm === 0 ? A : B, totalMs: leg.arm === 0 ? 1000 : 500, ...(ids && leg.arm === 1 ? { ids } : {}) })]);
  const legs = input.legs.map((leg) => (leg.index === 1 && rows !== null ? { ...leg, measure: measure({ rows: [rows] }) } : leg));
  return judge({ ...input, legs, rule: parseRule(rule) });
}
const RULE = 'identity logits <= 1e-5 and median >= 3%';

describe('logits <= X', () => {
  it('within the limit: the same, the gain is judged, and every text says that the agent attests it', () => {
    const verdict = verdictOf(attested(), RULE);
    expect(verdict.verdict).toBe('rule-met');
    expect(verdict.reason).toContain('(agent-attested: largest logit difference 0.0000012)');
    expect(verdict.identities[0]).toMatchObject({
      status: 'same',
      note: 'equal ids, largest logit difference 0.0000012, at step 3, against a limit of 0.00001; they differ from step 2, where the top-1 margin is 2.5 (agent-attested)',
      logits: { attested: 'agent', limit: 1e-5, maxAbsDifference: 1.2e-6, atStep: 3, firstDifferingStep: 2, marginThere: 2.5, idsEqual: true },
    });
  });
  it('at the limit it still holds, above it the output differs and no gain is shown', () => {
    expect(verdictOf(attested({ maxAbsDifference: 1e-5 }), RULE).verdict).toBe('rule-met');
    expect(verdictOf(attested({ maxAbsDifference: 1.01e-5 }), RULE)).toMatchObject({ verdict: 'output-differs', effects: [] });
  });
  it('ids that differ are never the same, by the record or by the rows', () => {
    expect(verdictOf(attested({ idsEqual: false }), RULE)).toMatchObject({
      verdict: 'output-differs',
      reason: expect.stringContaining('the rows choose other ids'),
    });
    expect(verdictOf(attested(), RULE, [100, 101, 102, 999])).toMatchObject({
      verdict: 'output-differs',
      reason: expect.stringContaining('ids differ from id 3'),
    });
  });
  it.each<[string, RowsComparison | null, string]>([
    ['nothing was compared', null, 'no logits rows of these legs were compared'],
    [
      'the rows could not be',
      attested({ maxAbsDifference: null, note: 'candidate: the leg wrote no rows' }),
      'could not be compared: candidate: the leg wrote no rows',
    ],
    ['the rows are not those of the digest', attested({ candidateSha256: digest(A) }), 'are not those of their digests'],
    ['other legs were compared', attested({ candidateLeg: 9 }), 'no logits rows of these legs were compared'],
  ])('%s: undecided, and why', (_, rows, why) => {
    expect(verdictOf(rows, RULE)).toMatchObject({ verdict: 'undecided', effects: [], reason: expect.stringContaining(why) });
  });
  it('under another identity the comparison decides nothing', () => {
    expect(verdictOf(attested(), 'identity exact and median >= 3%').verdict).toBe('output-differs');
  });
});

it('compares the first legs of both arms, of every case and comparison', () => {
  const legs = ['x', 'y'].flatMap((name, at) => [1, 0, 0, 1, 2].map((arm, i) => ({ index: at * 5 + i, arm, case: name, pair: 1 })));
  const comparisons = [1, 2].map((candidate) => ({ baseline: 0, candidate }));
  expect(rowsToCompare(legs, comparisons).map(({ baselineLeg, candidateLeg }) => [baselineLeg, candidateLeg])).toEqual([
    [1, 0],
    [1, 4],
    [6, 5],
    [6, 9],
  ]);
});
