import { expect, it } from 'vitest';
import { qkL2NormReference } from './qk-l2-norm.reference.ts';

it('gives unit keys and queries of length dk^-0.5, skipping the values behind them', () => {
  const shape = { rows: 2, kHeads: 1, dk: 4, rowStride: 9 };
  const x = [3e3, 4e3, 0, 0, 1e3, 1e3, 1e3, 1e3, 77, 0, 0, 0, -2e3, 0, 5e3, 0, 12e3, 77];
  const { q, k } = qkL2NormReference(shape, { x });
  [0.3, 0.4, 0, 0, 0, 0, 0, -0.5].forEach((value, i) => expect(q[i]).toBeCloseTo(value, 12));
  [0.5, 0.5, 0.5, 0.5, 0, 5 / 13, 0, 12 / 13].forEach((value, i) => expect(k[i]).toBeCloseTo(value, 12));
});

it('adds 1e-6 to the sum under the root', () => {
  const { q, k } = qkL2NormReference({ rows: 1, kHeads: 1, dk: 1, rowStride: 2 }, { x: [1e-3, 2e-3] });
  expect(q[0]).toBeCloseTo(Math.SQRT1_2, 12);
  expect(k[0]).toBeCloseTo(2 / Math.sqrt(5), 12);
});
