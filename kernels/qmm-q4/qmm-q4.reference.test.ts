import { expect, test } from 'vitest';
import { qmmQ4Reference, qmmQ4SplitReference } from './qmm-q4.reference.ts';

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

test('by slices: scale·Σqx + bias·Σx, the scale of a slice being that of its group', () => {
  const x = new Float32Array(128);
  x[31] = 1; // the last element of slice 0
  x[32] = 10; // the first of slice 1, in the same group
  x[64] = 100; // the first of group 1
  const codes = new Uint32Array(16);
  codes[3] = 0x30000000; // element 31 is 3
  codes[4] = 0x00000005; // element 32 is 5
  codes[8] = 0x0000000f; // element 64 is 15
  const scales = Uint32Array.of((MINUS_HALF << 16) | TWO);
  const biases = Uint32Array.of((TWO << 16) | ONE);
  const { values, terms, units } = qmmQ4SplitReference({ rows: 1, n: 1, k: 128 }, x, codes, scales, biases);
  // (2·3 + 1·1) + (2·50 + 1·10) + (-0.5·1500 + 2·100)
  expect([...values]).toEqual([7 + 110 - 550]);
  expect([...terms]).toEqual([7 + 110 + 950]);
  // Σ|x| = 111; |scale|·(Σq + 32) by slice: 2·35, 2·37, 0.5·47, 0.5·32; |bias|·32: 32, 32, 64, 64; k = 128
  expect([...units]).toEqual([111 + 70 + 74 + 23.5 + 16 + 192 + 128]);
});

test('by slices an infinity at a code of 0 is NaN, as 0·∞ is; elsewhere it has its sign', () => {
  const x = new Float32Array(128);
  x[0] = Infinity;
  x[64] = Infinity;
  const codes = new Uint32Array(32);
  codes[16] = 1; // column 1 has a 1 at element 0, and again at element 64
  codes[24] = 1;
  const ones = Uint32Array.of((ONE << 16) | ONE, (ONE << 16) | ONE);
  const shape = { rows: 1, n: 2, k: 128 };
  expect([...qmmQ4SplitReference(shape, x, codes, ones, ones).values]).toEqual([NaN, Infinity]);
  expect([...qmmQ4Reference(shape, x, codes, ones, ones).values]).toEqual([Infinity, Infinity]);
});
