import { expect, test } from 'vitest';
import { plant, plantedFile, shaderFiles } from './plant.ts';

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

test('a control edits its kernel’s own shader, or the include that it names', () => {
  const kernel = { name: 'k', includes: ['grid', 'bf16'] };
  expect(shaderFiles(kernel)).toEqual(['shared/grid.wgsl', 'shared/bf16.wgsl', 'k/k.wgsl']);
  expect(plantedFile(kernel, control)).toBe('k/k.wgsl');
  expect(plantedFile(kernel, { ...control, file: 'shared/bf16.wgsl' })).toBe('shared/bf16.wgsl');
  expect(() => plantedFile(kernel, { ...control, file: 'shared/sigmoid.wgsl' })).toThrow(
    'control "off by one" edits shared/sigmoid.wgsl, which k does not include; it includes grid, bf16',
  );
});
