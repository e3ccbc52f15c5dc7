import { expect, test } from 'vitest';
import { roundToBf16, roundToFp16 } from './accumulators.ts';

test.each([
  [1 + 2 ** -11, 1],
  [1 + 3 * 2 ** -11, 1 + 2 ** -9],
  [2049, 2048],
  [2051, 2052],
  [65504, 65504],
  [65519, 65504],
  [65520, Infinity],
  [-70000, -Infinity],
  [2 ** -24, 2 ** -24],
  [2 ** -25, 0],
  [1.5 * 2 ** -24, 2 ** -23],
])('fp16: %s becomes %s', (value, expected) => {
  expect(roundToFp16(value)).toBe(expected);
});

test.each([
  [1 + 2 ** -8, 1],
  [1 + 3 * 2 ** -8, 1 + 2 ** -6],
  [257, 256],
  [259, 260],
  [1e38, 150 * 2 ** 119],
  [3.4e38, Infinity],
])('bf16: %s becomes %s', (value, expected) => {
  expect(roundToBf16(value)).toBe(expected);
});

test('bf16 rounds as the bits do, over every exponent', () => {
  const view = new DataView(new ArrayBuffer(4));
  for (let bits = 0x00800000; bits < 0x7f000000; bits += 0x00012345) {
    view.setUint32(0, bits);
    const value = view.getFloat32(0);
    view.setUint32(0, ((bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000) >>> 0);
    expect(roundToBf16(value)).toBe(view.getFloat32(0));
  }
});

test('zeros, infinities and NaN stay what they are', () => {
  for (const round of [roundToFp16, roundToBf16]) {
    expect(round(-0)).toBe(-0);
    expect(round(Infinity)).toBe(Infinity);
    expect(round(NaN)).toBeNaN();
  }
});
