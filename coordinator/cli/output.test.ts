import { expect, test } from 'vitest';
import { plain, table } from './output.ts';

test('columns are as wide as their widest cell, and nothing is cut or left trailing', () => {
  expect(
    table(
      ['a', 'long heading', 'c'],
      [
        ['wide cell', 'x', ''],
        ['y', '', 'z'],
      ],
    ),
  ).toBe(['a          long heading  c', 'wide cell  x', 'y                        z'].join('\n'));
});

test('text from elsewhere cannot move the cursor or start a new line', () => {
  expect(plain('\u001b[2Jgone\r\nnext\u202e end')).toBe('gone next end');
  expect(table(['h'], [['a\nb']])).toBe('h\na b');
});
