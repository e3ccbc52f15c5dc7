import { expect, test } from 'vitest';
import { copyReference } from './copy.reference.ts';

test('takes the first words of each row and leaves what is between the rows of out', () => {
  const shape = { rows: 2, width: 2, sourceStride: 3, outStride: 4 };
  const out = Uint32Array.of(90, 91, 92, 93, 94, 95, 96, 97);
  expect([...copyReference(shape, Uint32Array.of(1, 2, 3, 4, 5, 6), out)]).toEqual([1, 2, 92, 93, 4, 5, 96, 97]);
});

test('keeps the bits of a signalling NaN', () => {
  const shape = { rows: 1, width: 1, sourceStride: 1, outStride: 1 };
  expect([...copyReference(shape, Uint32Array.of(0x7f800001), Uint32Array.of(0))]).toEqual([0x7f800001]);
});
