import { expect, test } from 'vitest';
import { foldGrid } from './grid.ts';

test.each([1, 4095])('%i groups lie in a row', (groups) => {
  expect(foldGrid(groups)).toEqual([groups, 1, 1]);
});

test.each([4097, 65535, 65536, 65537, 131071, 1_000_003, 65535 * 65535])('%i groups fold into a grid that holds them all and fits any device', (groups) => {
  const [x, y, z] = foldGrid(groups);
  expect(Math.max(x, y, z)).toBeLessThanOrEqual(65535);
  expect(x * y * z).toBeGreaterThanOrEqual(groups);
  expect(x * y * z - groups).toBeLessThan(y);
});
