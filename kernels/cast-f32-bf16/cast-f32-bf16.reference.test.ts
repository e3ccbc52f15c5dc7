import { expect, test } from 'vitest';
import { castF32Bf16Reference } from './cast-f32-bf16.reference.ts';

const one = (bits: number): number => castF32Bf16Reference(Uint32Array.of(bits))[0]!;

test.each([
  ['1', 0x3f800000, 0x3f80],
  ['less than half a unit above 1', 0x3f807fff, 0x3f80],
  ['half a unit above 1: to the even one, down', 0x3f808000, 0x3f80],
  ['more than half a unit above 1', 0x3f808001, 0x3f81],
  ['half a unit above an odd one: to the even one, up', 0x3f818000, 0x3f82],
  ['the same with a sign', 0xbf818000, 0xbf82],
  ['into the next power of two', 0x3fff8000, 0x4000],
  ['-0', 0x80000000, 0x8000],
  ['the smallest subnormal', 0x00000001, 0x0000],
  ['half of the smallest bf16', 0x00008000, 0x0000],
  ['one and a half of it', 0x00018000, 0x0002],
  ['a subnormal that becomes normal', 0x007fffff, 0x0080],
  ['the largest float32: infinity', 0x7f7fffff, 0x7f80],
  ['the largest that stays finite', 0x7f7f7fff, 0x7f7f],
  ['-infinity', 0xff800000, 0xff80],
  ['a quiet NaN', 0x7fc00000, 0x7fc0],
  ['a signalling NaN with payload', 0xff810001, 0xffc1],
  ['a NaN whose payload is cut off', 0x7f800001, 0x7fc0],
])('%s', (_, bits, due) => {
  expect(one(bits).toString(16)).toBe(due.toString(16));
});

test('two a word, the lower half first, and 0 behind an odd count', () => {
  expect([...castF32Bf16Reference(Uint32Array.of(0x3f800000, 0xc0000000, 0x40400000))]).toEqual([0xc0003f80, 0x00004040]);
});
