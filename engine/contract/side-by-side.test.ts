import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sideBySide } from './side-by-side.ts';

it('hands results over in the order of the items, whichever ends first, and gives no worker two at once', async () => {
  const busy = new Set<string>();
  const users = new Set<string>();
  const seen: number[] = [];
  await sideBySide(
    [30, 1, 1, 20, 1],
    ['a', 'b'],
    async (ms, worker) => {
      expect(busy.has(worker)).toBe(false);
      busy.add(worker);
      users.add(worker);
      await after(ms);
      busy.delete(worker);
      return ms;
    },
    (ms) => seen.push(ms),
  );
  expect(seen).toEqual([30, 1, 1, 20, 1]);
  expect(users).toEqual(new Set(['a', 'b']));
});

it('throws what the first failing item threw, lets the others end and begins no more', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const working = sideBySide(
    [0, 1, 2, 3],
    ['a', 'b'],
    async (item) => {
      begun.push(item);
      await after(item === 0 ? 20 : 1);
      if (item === 1) throw new Error('item 1');
      ended.push(item);
    },
    () => undefined,
  );
  await expect(working).rejects.toThrow('item 1');
  expect([begun, ended]).toEqual([[0, 1], [0]]);
});
