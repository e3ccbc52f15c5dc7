import { expect, test } from 'vitest';
import { plant } from './plant.ts';

const control = { name: 'off by one', gate: 3, find: 'i < n', replace: 'i + 1 < n' } as const;

test('the line is edited in place', () => {
  expect(plant('k.wgsl', 'for (; i < n; i++) {', control)).toBe('for (; i + 1 < n; i++) {');
});

test('a replacement is taken literally', () => {
  expect(plant('k.wgsl', 'a i < n b', { ...control, replace: '$& $1' })).toBe('a $& $1 b');
});

test('a line that is not there, or there twice, has drifted', () => {
  expect(() => plant('k.wgsl', 'for (; i <= n; i++) {', control)).toThrow(
    'control "off by one" must edit one line of k.wgsl that occurs exactly once; it occurs 0 times',
  );
  expect(() => plant('k.wgsl', 'i < n || i < n', control)).toThrow('it occurs 2 times');
});

test('more than a line, nothing, or no change is refused', () => {
  expect(() => plant('k.wgsl', 'a\nb', { ...control, find: 'a\nb' })).toThrow('one line');
  expect(() => plant('k.wgsl', 'a', { ...control, find: '' })).toThrow('one line');
  expect(() => plant('k.wgsl', 'i < n', { ...control, replace: 'i < n' })).toThrow('changes nothing');
});
