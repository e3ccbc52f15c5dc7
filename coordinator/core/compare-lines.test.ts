import { expect, test } from 'vitest';
import { compareLines, ROWS_SHOWN } from './compare-lines.ts';

// An unbounded comparison of these takes hours, and runs into the test's time limit.
test('texts that have nothing in common are counted whole and kept in part', () => {
  const text = (word: string): string[] => Array.from({ length: 60_000 }, (_, i) => `${word}${i}`);
  const compared = compareLines('noise', text('a'), [...text('b'), 'one more']);
  expect(compared).toMatchObject({ count: 60_001, differing: 60_001 });
  expect(compared.rows).toHaveLength(ROWS_SHOWN);
  expect(compared.rows.at(-1)).toMatchObject({ status: 'differs', baseline: expect.stringContaining('58002 more rows') as string });
});

test('lines put in far apart are still aligned', () => {
  const base = Array.from({ length: 3000 }, (_, i) => `line ${i} of many`);
  const compared = compareLines('far', base, ['new first', ...base, 'new last']);
  expect(compared.differing).toBe(2);
});
