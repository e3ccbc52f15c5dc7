import { expect, test } from 'vitest';
import { qmmQ4AddReference } from './qmm-q4-add.reference.ts';

const ONE = 0x3f80;
const TWO = 0x4000;
const MINUS_HALF = 0xbf00;

test('a product of two rows of weights is added to the residual', () => {
  const x = new Float32Array(64);
  x[0] = 1;
  x[8] = 10;
  x[63] = 100;
  const codes = new Uint32Array(16);
  codes[0] = 0x00000003; // row 0: element 0 is 3
  codes[7] = 0xf0000000; // row 0: element 63 is 15
  codes[9] = 0x00000005; // row 1: element 8 is 5
  const scales = Uint32Array.of((MINUS_HALF << 16) | TWO);
  const biases = Uint32Array.of((TWO << 16) | ONE);
  const { values, terms, units } = qmmQ4AddReference({ n: 2, k: 64 }, x, codes, scales, biases, Float32Array.of(1000, -7));
  // row 0: 2·(3 + 1500) + 1·111; row 1: -0.5·50 + 2·111
  expect([...values]).toEqual([1000 + 3006 + 111, -7 - 25 + 222]);
  expect([...terms]).toEqual([3006 + 111, 25 + 222]);
  // Σ|x| + |scale|·(Σq + 64) + 64·|bias| + k: 111 + 2·82 + 64 + 64; 111 + 0.5·69 + 128 + 64
  expect([...units]).toEqual([403, 337.5]);
});

test('an infinity at a code of 0 is NaN, as 0·∞ is; elsewhere it has its sign', () => {
  const x = new Float32Array(64);
  x[0] = -Infinity;
  const codes = new Uint32Array(16);
  codes[8] = 1;
  const ones = Uint32Array.of((ONE << 16) | ONE);
  expect([...qmmQ4AddReference({ n: 2, k: 64 }, x, codes, ones, ones, Float32Array.of(1, 1)).values]).toEqual([NaN, -Infinity]);
});
