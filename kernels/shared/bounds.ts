/**
 * Error bounds of float32 arithmetic as WGSL promises it (accuracy table of the WGSL specification, 19 August 2026).
 */

/** Relative error of one WGSL operation: correctly rounded in an unspecified direction. */
export const U_SPEC = 2 ** -23;

/** Relative error of one operation that rounds to nearest, as drivers do: what depth bounds are made of. */
export const U_NEAREST = 2 ** -24;

/** Smallest normal float32: what a driver that flushes subnormals may lose from any operand or result. */
export const FLUSH = 2 ** -126;

/** γ_m = m·u / (1 − m·u): the relative error that m roundings on one path can build up (Higham, 2002, lemma 3.1). */
export function gamma(roundings: number, u: number): number {
  const product = roundings * u;
  if (product >= 1) throw new Error(`γ is undefined for ${roundings} roundings of ${u}`);
  return product / (1 - product);
}
