import { expect, it } from 'vitest';
import { median, percentile } from './statistics.ts';

it('takes nearest ranks', () => {
  const values = [5, 1, 4, 2, 3, 10, 6, 7, 8, 9];
  expect([0, 0.1, 0.5, 0.9, 0.99, 1].map((fraction) => percentile(values, fraction))).toEqual([1, 1, 5, 9, 10, 10]);
  expect([median([3, 1, 2]), median([])]).toEqual([2, 0]);
});
