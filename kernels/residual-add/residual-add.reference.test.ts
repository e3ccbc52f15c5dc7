import { expect, test } from 'vitest';
import { residualAddReference } from './residual-add.reference.ts';

test('adds element for element', () => {
  expect([...residualAddReference(Float32Array.of(1, -2, 0.5), Float32Array.of(4, 2, 0.25))]).toEqual([5, 0, 0.75]);
});
