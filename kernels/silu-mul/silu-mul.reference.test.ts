import { expect, test } from 'vitest';
import { siluMulReference } from './silu-mul.reference.ts';

test('silu(0) is 0, silu(ln 3) is 3/4 of ln 3, silu(-ln 3) is -1/4 of it', () => {
  const log3 = Math.fround(Math.log(3));
  const out = siluMulReference({ rows: 1, n: 3, stride: 3, upOffset: 0 }, { gate: [0, log3, -log3], up: [7, 4, 4] });
  expect(out[0]).toBe(0);
  expect(out[1]).toBeCloseTo(3 * log3, 6);
  expect(out[2]).toBeCloseTo(-log3, 6);
});

test('gate and up of a row may lie in one array', () => {
  const both = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const out = siluMulReference({ rows: 2, n: 2, stride: 5, upOffset: 3 }, { gate: both, up: both });
  const silu = (x: number) => x / (1 + Math.exp(-x));
  [silu(1) * 4, silu(2) * 5, silu(6) * 9, silu(7) * 10].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 12));
});
