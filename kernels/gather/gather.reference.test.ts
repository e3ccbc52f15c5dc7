import { expect, test } from 'vitest';
import { gatherReference } from './gather.reference.ts';

test('rows come in the order of the ids, as often as they are asked for', () => {
  const table = Uint32Array.of(10, 11, 20, 21, 30, 31);
  expect([...gatherReference({ rows: 4, width: 2, entries: 3 }, Uint32Array.of(2, 0, 2, 1), table)]).toEqual([30, 31, 10, 11, 30, 31, 20, 21]);
});

test('an id just past the table, and the largest one, give zero rows', () => {
  const table = Uint32Array.of(10, 20);
  expect([...gatherReference({ rows: 3, width: 1, entries: 2 }, Uint32Array.of(2, 1, 0xffffffff), table)]).toEqual([0, 20, 0]);
});
