import { expect, test } from 'vitest';
import { qmmQ4Reference } from './qmm-q4.reference.ts';

const ONE = 0x3f80;
const TWO = 0x4000;
const MINUS_HALF = 0xbf00;

test('one group: the lowest nibble of a word is its first element', () => {
  const x = new Float32Array(64);
  x[0] = 1;
  x[1] = 10;
  x[8] = 100;
  const codes = new Uint32Array(8);
  codes[0] = 0x00000053; // element 0 is 3, element 1 is 5
  codes[1] = 0x0000000f; // element 8 is 15
  // w = 2q - 0.5: 1·5.5 + 10·9.5 + 100·29.5 = 3050.5
  const { values, terms, products, units } = qmmQ4Reference({ rows: 1, n: 1, k: 64 }, x, codes, Uint32Array.of(TWO), Uint32Array.of(MINUS_HALF));
  expect([...values]).toEqual([3050.5]);
  // |x|·(|2q| + 0.5): 6.5 + 105 + 3050
  expect([...terms]).toEqual([3161.5]);
  expect([...products]).toEqual([3050.5]);
  // Σ|x| = 111; Σ|w| = 5.5 + 9.5 + 29.5 + 61 codes of 0, each |-0.5|; k = 64
  expect([...units]).toEqual([111 + 44.5 + 30.5 + 64]);
});

test('scales run on from row to row: with one group a row, row 1 has the upper half of the first pair', () => {
  const x = new Float32Array(64).fill(1);
  const codes = new Uint32Array(16).fill(0x11111111);
  const pair = Uint32Array.of((TWO << 16) | ONE);
  const zero = new Uint32Array(1);
  expect([...qmmQ4Reference({ rows: 1, n: 2, k: 64 }, x, codes, pair, zero).values]).toEqual([64, 128]);
});

test('two rows of x and a second group of its own scale', () => {
  const x = new Float32Array(256).fill(1, 0, 64).fill(1, 192, 256);
  const codes = new Uint32Array(16).fill(0x22222222);
  const pair = Uint32Array.of((MINUS_HALF << 16) | ONE);
  // row 0 sees group 0 (2·1), row 1 sees group 1 (2·-0.5)
  expect([...qmmQ4Reference({ rows: 2, n: 1, k: 128 }, x, codes, pair, new Uint32Array(1)).values]).toEqual([128, -64]);
});
