import { U_SPEC } from './bounds.ts';
import { expRelative } from './sigmoid-bounds.ts';

/**
 * Error of g = −E·(max(x, 0) + L), E = exp(aLog), L = log(1 + e), e = exp(−|x|), and x = a + dtBias rounded once. x moves softplus by at
 * most sigmoid(x) of its own error. L has exp's error (at most in full: dL/de·e/L ≤ 1), and under 12 roundings: z = e/(2+e) one sum and a
 * quotient of 2.5 ULP; z² ≤ 1/9 takes a ninth of twice that and of its own at each Horner step, whose constants and operations round
 * once each; the last product and the term left out.
 */
export function gateError(x: number, aLog: number, u: number): number {
  const size = Math.abs(x);
  const log = Math.log1p(Math.exp(-size));
  const softplus = Math.max(x, 0) + log;
  const inner = (size * u) / (1 + Math.exp(-x)) + log * (expRelative(Math.min(size, 110)) + 12 * U_SPEC) + softplus * u;
  return Math.exp(aLog) * (inner + softplus * (expRelative(aLog) + u)) * (1 + 2 ** -12);
}
