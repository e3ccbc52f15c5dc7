import { expect, it } from 'vitest';
import { gdnStepReference } from './gdn-step.reference.ts';

/** silu⁻¹ is not elementary: a channel whose convolution is ln 3 comes out as ¾·ln 3. */
const LN3 = Math.log(3);

it('goes through convolution, gates, norms, the delta rule and the gated norm by hand', () => {
  // One key head of two, two value heads of one; channels q0 q1 k0 k1 v0 v1, then z, a, b of both heads.
  const shape = { kHeads: 1, vHeads: 2, dk: 2, dv: 1, taps: 2, zOffset: 6, aOffset: 8, bOffset: 10, eps: 0 };
  const x = [LN3, 0, 0, LN3, LN3, 2 * LN3, LN3, -LN3, 0, 800, 0, LN3];
  // Every channel takes half of its state (0 but for v1) and all of the present. v1: 0.5·(−2·ln 3) + 2·ln 3 = ln 3.
  const convWeight = [0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1];
  const convState = [0, 0, 0, 0, 0, -2 * LN3];
  // Head 0: A_log 0, a + dt_bias = 0, so that g = −ln 2 and the decay is a half. Head 1: a is 800, and nothing is left of the state.
  const { out, convState: after, state, made } = gdnStepReference(shape, { x, convWeight, gates: [0, 0, 0, 0], norm: [3], convState, state: [2, 4, 8, 8] });
  expect([...after]).toEqual([LN3, 0, 0, LN3, LN3, 2 * LN3]);
  // q is (1, 0)/√2 and k (0, 1), but for the 1e-6 under the root.
  expect(made.q[0]).toBeCloseTo(Math.SQRT1_2, 5);
  expect(made.k[1]).toBeCloseTo(1, 5);
  [0.5, 0.75].forEach((beta, head) => expect(made.beta[head]).toBeCloseTo(beta, 14));
  // Head 0: S = (1, 2), δ = ½(¾·ln 3 − 2). Head 1: S = 0, δ = ¾·¾·ln 3.
  [1, 1 + 0.375 * LN3, 0, 0.5625 * LN3].forEach((value, i) => expect(state[i]).toBeCloseTo(value, 5));
  // Answers are 1/√2 and 0; normed 1 and 0 (0/0 without eps), weighed 3, gated by ¾·ln 3.
  expect(out[0]).toBeCloseTo(2.25 * LN3, 12);
});

it('adds eps under both roots, and gives the second value head the second key head', () => {
  const shape = { kHeads: 2, vHeads: 2, dk: 1, dv: 1, taps: 2, zOffset: 6, aOffset: 8, bOffset: 10, eps: 3 };
  // Queries 0, LN3; keys 0, LN3; values 0, 0: only head 1 answers. b = 0 halves: S = 2·(1 − ½) = 1 with a decay of 1 (a = −800).
  const x = [0, LN3, 0, LN3, 0, 0, LN3, LN3, -800, -800, 0, 0];
  const convWeight = Array.from({ length: 12 }, (_, i) => i % 2);
  const { out, state } = gdnStepReference(shape, { x, convWeight, gates: [0, 0, 0, 0], norm: [4], convState: [7, 7, 7, 7, 7, 7], state: [2, 2] });
  expect(state[0]).toBe(2);
  expect(state[1]).toBeCloseTo(1, 5);
  // 1/√(1 + 3)·4·¾·ln 3
  expect(out[0]).toBe(0);
  expect(out[1]).toBeCloseTo(1.5 * LN3, 5);
});
