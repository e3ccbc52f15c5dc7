import { expect, it } from 'vitest';
import { gdnGatesReference } from './gdn-gates.reference.ts';

it('decays by exp(aLog) times the softplus, and writes by the sigmoid', () => {
  const shape = { rows: 2, vHeads: 2, stride: 5, aOffset: 0, bOffset: 3 };
  // a + dtBias is 0, ln 3, −ln 3, ln 7, so the softplus log(1 + eˣ) is ln 2, ln 4, ln(4/3), ln 8.
  const both = [-1, Math.log(3) + 2, 9, 0, Math.log(3), -Math.log(3) - 1, Math.log(7) + 2, 9, -Math.log(3), 800];
  const { g, beta } = gdnGatesReference(shape, { a: both, b: both, aLog: [0, Math.log(5)], dtBias: [1, -2] });
  [-Math.log(2), -5 * Math.log(4), -Math.log(4 / 3), -5 * Math.log(8)].forEach((value, i) => expect(g[i]).toBeCloseTo(value, 13));
  [0.5, 0.75, 0.25, 1].forEach((value, i) => expect(beta[i]).toBeCloseTo(value, 14));
});

it('keeps every digit of a very negative softplus and does not overflow on a very positive one', () => {
  const { g } = gdnGatesReference({ rows: 1, vHeads: 2, stride: 2, aOffset: 0, bOffset: 0 }, { a: [-80, 1e30], b: [0, 0], aLog: [0, 0], dtBias: [0, 0] });
  expect(g[0]! / -Math.exp(-80)).toBeCloseTo(1, 14);
  expect(g[1]).toBe(-1e30);
});
