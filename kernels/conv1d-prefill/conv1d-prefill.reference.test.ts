import { expect, it } from 'vitest';
import { conv1dPrefillReference } from './conv1d-prefill.reference.ts';

const silu = (x: number) => x / (1 + Math.exp(-x));
// Channel 0 weighs (oldest … current) 1, 10, 100; channel 1 weighs 2, 0, −1.
const weight = [1, 10, 100, 2, 0, -1];
const state = [0.1, 1, 0.2, 2];

it('puts the last tap on the current row and reads the state before the rows', () => {
  const { out, state: after } = conv1dPrefillReference({ rows: 3, channels: 2, taps: 3, stride: 2 }, { x: [0.3, 3, 0.4, 4, 0.5, 5], weight, state });
  const sums = [0.1 + 2 + 30, 2 - 3, 0.2 + 3 + 40, 4 - 4, 0.3 + 4 + 50, 6 - 5];
  sums.forEach((sum, i) => expect(out[i]).toBeCloseTo(silu(sum), 12));
  expect([...after]).toEqual([0.4, 4, 0.5, 5]);
});

it('keeps the newest state column when there are fewer rows than the state holds', () => {
  const { state: after } = conv1dPrefillReference({ rows: 1, channels: 2, taps: 3, stride: 2 }, { x: [0.3, 3], weight, state });
  expect([...after]).toEqual([0.2, 2, 0.3, 3]);
});

it('reads rows that lie apart', () => {
  const shape = { rows: 2, channels: 2, taps: 3, stride: 3 };
  const apart = conv1dPrefillReference(shape, { x: [0.3, 3, 1e30, 0.4, 4, 1e30], weight, state });
  expect(apart).toEqual(conv1dPrefillReference({ ...shape, stride: 2 }, { x: [0.3, 3, 0.4, 4], weight, state }));
});
