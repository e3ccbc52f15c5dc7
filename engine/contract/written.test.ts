import { expect, test } from 'vitest';
import { differenceFault, POISON, unwrittenFault } from './written.ts';

test('an unwritten element is refused by its place', () => {
  expect(unwrittenFault('y', Uint32Array.of(1, 2, 3))).toBe('');
  expect(unwrittenFault('y', Uint32Array.of(1, POISON, POISON))).toBe('"y": 2 of 3 elements were never written, the first is 1');
});

test('an element that is to be left alone may keep its poison', () => {
  expect(unwrittenFault('y', Uint32Array.of(1, POISON), Uint8Array.of(0, 1))).toBe('');
});

test('a changed word is found, the sign of zero included', () => {
  expect(differenceFault('x', Uint32Array.of(1, 2), Uint32Array.of(1, 2))).toBe('');
  expect(differenceFault('x', Uint32Array.of(1, 0), Uint32Array.of(1, 0x80000000))).toBe('x: element 1 is -0 (0x80000000), not 0 (0x00000000)');
  expect(differenceFault('x', Uint32Array.of(1), Uint32Array.of(1, 2))).toBe('x: 1 words became 2');
});
