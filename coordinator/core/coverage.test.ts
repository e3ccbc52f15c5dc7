import { expect, test } from 'vitest';
import type { JobView, RunView } from '../protocol/run.ts';
import type { Verdict, VerdictWord } from '../protocol/verdict.ts';
import { shownCoverage } from './coverage.ts';

type Cell = RunView['coverage'][number];
const cell = (arm: string, status: Cell['status'] = 'measured', note = ''): Cell => ({ device: 'b60', suite: 'decode', arm, status, note });
const job = (...verdicts: [string, VerdictWord][]): Pick<JobView, 'device' | 'suite' | 'verdicts'> => ({
  device: 'b60',
  suite: 'decode',
  verdicts: verdicts.map(([candidate, verdict]) => ({ candidate, verdict, reason: `why ${verdict}` }) as Verdict),
});
const statuses = (...verdicts: [string, VerdictWord][]): string[] =>
  shownCoverage([cell('base'), cell('one'), cell('two')], [job(...verdicts)]).map((item) => item.status);

test('an arm is void where its verdict is, and the baseline where all are', () => {
  expect(statuses(['one', 'void'], ['two', 'same'])).toEqual(['measured', 'void', 'measured']);
  expect(statuses(['one', 'void'], ['two', 'void'])).toEqual(['void', 'void', 'void']);
  expect(statuses(['one against base', 'void'], ['two against one', 'same'])).toEqual(['measured', 'measured', 'measured']);
  expect(shownCoverage([cell('one')], [job(['one', 'void'])])[0]!.note).toBe('why void');
});

test('what nobody asked for is no gap; what was refused is', () => {
  const software = cell('one', 'not-run', 'a software driver is never GPU evidence; --allow-software was not given');
  const cells = [cell('one', 'not-run', 'suite not asked for'), cell('one', 'not-run', 'case not asked for'), software, cell('one', 'pending')];
  expect(shownCoverage(cells, []).map((item) => item.status)).toEqual(['not-asked', 'not-asked', 'not-run', 'pending']);
});
