import { expect, test } from 'vitest';
import { siluMulReference } from './silu-mul.reference.ts';

test('silu(0) is 0, silu(ln 3) is 3/4 of ln 3, silu(-ln 3) is -1/4 of it', () => {
  const log3 = Math.fround(Math.log(3));
  const out = siluMulReference(Float32Array.of(0, log3, -log3), Float32Array.of(7, 4, 4));
  expect(out[0]).toBe(0);
  expect(out[1]).toBeCloseTo(3 * log3, 6);
  expect(out[2]).toBeCloseTo(-log3, 6);
});
