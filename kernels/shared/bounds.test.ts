import { expect, test } from 'vitest';
import { gamma, U_NEAREST, U_SPEC } from './bounds.ts';

test('γ grows a little faster than the count of roundings', () => {
  expect(gamma(1, 0.25)).toBe(1 / 3);
  expect(gamma(2048, U_SPEC)).toBeGreaterThan(2048 * U_SPEC);
  expect(gamma(2048, U_SPEC)).toBeLessThan(2049 * U_SPEC);
  expect(gamma(100, U_NEAREST)).toBeLessThan(gamma(100, U_SPEC));
});

test('so many roundings that nothing can be said are refused', () => {
  expect(() => gamma(2 ** 23, U_SPEC)).toThrow('undefined');
});
