import { expect, it } from 'vitest';
import { conv1dDecodeReference } from './conv1d-decode.reference.ts';

it('weighs three state columns and the current row, and moves the state up by one', () => {
  const shape = { rows: 1, channels: 2, taps: 4 };
  const state = [1, 5, 2, 6, 3, 7];
  const { out, state: after } = conv1dDecodeReference(shape, { x: [4, 8], weight: [8, 4, 2, 1, 1, -1, 0.5, -0.125], state });
  // Channel 0: 8 + 8 + 6 + 4 = 26. Channel 1: 5 − 6 + 3.5 − 1 = 1.5.
  expect(out[0]).toBeCloseTo(26 / (1 + Math.exp(-26)), 12);
  expect(out[1]).toBeCloseTo(1.5 / (1 + Math.exp(-1.5)), 14);
  expect([...after]).toEqual([2, 6, 3, 7, 4, 8]);
});
