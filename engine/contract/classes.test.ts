import { expect, test } from 'vitest';
import { classFault, classOf, showWord } from './classes.ts';

test.each([
  [0x7fc00000, 'nan'],
  [0x7f800001, 'nan'],
  [0xffc00000, 'nan'],
  [0x7f800000, '+inf'],
  [0xff800000, '-inf'],
  [0x00000000, '+0'],
  [0x80000000, '-0'],
  [0x00000001, 'subnormal'],
  [0x807fffff, 'subnormal'],
  [0x00800000, 'normal'],
  [0xff7fffff, 'normal'],
])('0x%s is %s', (bits, expected) => {
  expect(classOf(bits)).toBe(expected);
});

test('a NaN asks for a NaN and an infinity for itself', () => {
  expect(classFault(0x7fc00001, NaN)).toBe('');
  expect(classFault(0x3f800000, NaN)).toContain('NaN is due');
  expect(classFault(0x7f800000, Infinity)).toBe('');
  expect(classFault(0xff800000, Infinity)).toContain('+inf is due');
  expect(classFault(0x7f7fffff, -Infinity)).toContain('-inf is due');
});

test('a finite value refuses NaN and infinities and leaves the rest to its bound', () => {
  expect(classFault(0x7fc00000, 1)).toContain('is nan');
  expect(classFault(0xff800000, 0)).toContain('is -inf');
  expect(classFault(0x80000000, 0)).toBe('');
});

test('a word is shown with its value and its bits', () => {
  expect(showWord(0x80000000)).toBe('-0 (0x80000000)');
  expect(showWord(0x3f800000)).toBe('1 (0x3f800000)');
});
