import { expect, test } from 'vitest';
import { greedyMergeReference } from './greedy-merge.reference.ts';

const NONE = 0xffffffff;

test('the largest key wins, of equal ones the lowest id; checksums wrap', () => {
  const parts = [7, 5, NONE, 0xffffffff, 1, 9, 1030, NONE, 3, 2, 9, 2050, NONE, 0, 0xfffffffe];
  const { result, checksum } = greedyMergeReference({ spans: 3 }, { parts });
  expect([...result]).toEqual([1030, 1, NONE, 0]);
  expect([...checksum]).toEqual([2, 1]);
});

test('a span without a finite logit does not win, and the first one named is kept', () => {
  const parts = [0, NONE, 0, 1, 1, 0x80000000, 1100, NONE, 1, 1, 0x80000000, 2047 + 5, 2048, 1, 1];
  expect([...greedyMergeReference({ spans: 3 }, { parts }).result]).toEqual([1100, 0, 0, 0]);
  expect([...greedyMergeReference({ spans: 1 }, { parts }).result]).toEqual([NONE, 0, 0, 0]);
});
