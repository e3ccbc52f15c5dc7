import { expect, test } from 'vitest';
import { bf16Bits, bitsOf, f32FromBits, packPairs } from './float-bits.ts';

test.each([
  [1, 0x3f80],
  [-2, 0xc000],
  [0, 0],
  [-0, 0x8000],
  [1 + 2 ** -8, 0x3f80],
  [1 + 3 * 2 ** -8, 0x3f82],
  [1 + 2 ** -8 + 2 ** -20, 0x3f81],
])('%s is nearest to bf16 0x%s', (value, bits) => {
  expect(bf16Bits(value)).toBe(bits);
});

test('pairs hold the lower half first, and an odd count leaves the last half empty', () => {
  expect([...packPairs([0x1111, 0xf222, 0x3333])]).toEqual([0xf2221111, 0x3333]);
});

test('bits and values go both ways', () => {
  expect(f32FromBits(0x40490fdb)).toBeCloseTo(Math.PI, 6);
  expect([...bitsOf(Float32Array.of(1, -0))]).toEqual([0x3f800000, 0x80000000]);
});
