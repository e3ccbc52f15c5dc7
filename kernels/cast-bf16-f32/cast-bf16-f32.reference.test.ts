import { expect, test } from 'vitest';
import { castBf16F32Reference } from './cast-bf16-f32.reference.ts';

test('the lower half first, and the last upper half left alone', () => {
  const bits = castBf16F32Reference(3, Uint32Array.of(0xc0003f80, 0xffff4040));
  expect([...new Float32Array(bits.buffer)]).toEqual([1, -2, 3]);
});

test.each([
  ['-0', 0x8000, 0x80000000],
  ['the smallest subnormal', 0x0001, 0x00010000],
  ['the largest finite one', 0x7f7f, 0x7f7f0000],
  ['-infinity', 0xff80, 0xff800000],
  ['a quiet NaN', 0xffc1, 0xffc10000],
  ['a signalling NaN', 0x7f81, 0x7fc10000],
])('%s', (_, half, due) => {
  expect(castBf16F32Reference(1, Uint32Array.of(half))[0]!.toString(16)).toBe(due.toString(16));
});
