import { expect, test } from 'vitest';
import { rmsNormReference } from './rms-norm.reference.ts';

test('a row of 3 and 4: mean square 12.5', () => {
  const { values, scales } = rmsNormReference({ rows: 1, n: 2, eps: 2 ** -40 }, Float32Array.of(3, 4), Float32Array.of(1, 2));
  const root = Math.sqrt(12.5);
  expect(scales[0]).toBeCloseTo(1 / root, 12);
  expect(values[0]).toBeCloseTo(3 / root, 12);
  expect(values[1]).toBeCloseTo(8 / root, 12);
});

test('eps is inside the root, and each row has its own mean', () => {
  const { values, scales } = rmsNormReference({ rows: 2, n: 1, eps: 0.25 }, Float32Array.of(0, Math.fround(Math.sqrt(0.75))), Float32Array.of(5));
  expect(scales[0]).toBe(2);
  expect(values[0]).toBe(0);
  expect(values[1]).toBeCloseTo(5 * Math.sqrt(0.75), 6);
});

test('an infinity makes the rest of its row 0 and itself NaN', () => {
  const { values } = rmsNormReference({ rows: 1, n: 2, eps: 1e-6 }, Float32Array.of(Infinity, 1), Float32Array.of(1, 1));
  expect([...values]).toEqual([NaN, 0]);
});
