import { expect, test } from 'vitest';
import { GUARD_WORDS, guardFault, withGuards, withoutGuards } from './guards.ts';

test('contents lie whole between the guards', () => {
  const guarded = withGuards(Uint32Array.of(1, 2, 3));
  expect([...withoutGuards(guarded)]).toEqual([1, 2, 3]);
  expect(guardFault('y', guarded)).toBe('');
});

test('every single guard word is watched', () => {
  for (let i = 0; i < GUARD_WORDS; i++) {
    const before = withGuards(Uint32Array.of(7));
    before[i] = 0;
    expect(guardFault('y', before)).toBe(`wrote ${GUARD_WORDS - i} words before "y"`);
    const after = withGuards(Uint32Array.of(7));
    after[GUARD_WORDS + 1 + i] = 0;
    expect(guardFault('y', after)).toBe(`wrote ${i + 1} words past the end of "y"`);
  }
});
