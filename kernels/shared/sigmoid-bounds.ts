import { U_SPEC } from './bounds.ts';

/**
 * Bounds of shared/sigmoid.wgsl. With e = exp(−|x|), sigmoid(x) is 1/(1+e) for x ≥ 0 and e/(1+e) for x < 0. An error of e moves the
 * first by a fraction e/(1+e) of it and the second by 1/(1+e); the sum rounds once and the quotient is 2.5 ULP off at most.
 * @param u what one sum may be off by, relatively; exp and the quotient are off by what WGSL's table allows in any case.
 * @returns relative error, to which 2⁻¹²⁶ must be added where the result or exp may be flushed.
 */
export function sigmoidRelative(x: number, u: number): number {
  const e = Math.exp(-Math.abs(x));
  const share = x >= 0 ? e / (1 + e) : 1 / (1 + e);
  // |x| past 110 makes e zero in float32 with room to spare, whatever exp's error.
  return (expRelative(Math.min(Math.abs(x), 110)) * share + u + 2.5 * U_SPEC) * (1 + 2 ** -12);
}

/** Relative error of WGSL's exp: 3 + 2|x| ULP. */
export function expRelative(x: number): number {
  return (3 + 2 * Math.abs(x)) * U_SPEC;
}
