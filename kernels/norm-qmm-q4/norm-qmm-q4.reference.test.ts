import { expect, test } from 'vitest';
import { normQmmQ4Reference } from './norm-qmm-q4.reference.ts';

const ONE = 0x3f80;
const TWO = 0x4000;
const MINUS_HALF = 0xbf00;

/** 64 elements of which 0 and 9 are 20 and −20: the mean square is 12.5, and with eps 3.5 its root 4. */
function row(): Float32Array {
  const x = new Float32Array(64);
  x[0] = 20;
  x[9] = -20;
  return x;
}

test('the row is normed and weighed, then multiplied: m[0] = 5·2, m[9] = -5·3', () => {
  const norm = new Float32Array(64).fill(1);
  norm[0] = 2;
  norm[9] = 3;
  const codes = new Uint32Array(16);
  codes[0] = 0x00000003; // row 0: element 0 is 3
  codes[9] = 0x00000070; // row 1: element 9 is 7
  const scales = Uint32Array.of((MINUS_HALF << 16) | TWO);
  const biases = Uint32Array.of((TWO << 16) | ONE);
  const { values, terms, units } = normQmmQ4Reference({ n: 2, k: 64, eps: 3.5 }, row(), norm, codes, scales, biases);
  // row 0: 2·3·10 + 1·(10 - 15); row 1: -0.5·7·(-15) + 2·(-5)
  expect([...values]).toEqual([55, 42.5]);
  expect([...terms]).toEqual([60 + 25, 52.5 + 50]);
  // r = 1/4; 1 + |norm|(1 + r) + r|x| is 8.5 at element 0, 9.75 at 9 and 2.25 at the 62 others: 157.75 in all.
  // row 0: k + 25 + 3·157.75 + 2·3·8.5; row 1: k + 25 + 2.5·157.75 + 0.5·7·9.75
  expect([...units]).toEqual([64 + 25 + 473.25 + 51, 64 + 25 + 394.375 + 34.125]);
});

test('an infinity makes every output NaN: its own place is ∞·0', () => {
  const x = row();
  x[5] = Infinity;
  const ones = Uint32Array.of(ONE);
  expect([...normQmmQ4Reference({ n: 1, k: 64, eps: 1e-6 }, x, x, new Uint32Array(8), ones, ones).values]).toEqual([NaN]);
});
