import { FLUSH, gamma, U_NEAREST, U_SPEC } from './bounds.ts';
import { headNormBounds } from './norm-bounds.ts';

/**
 * Bounds of one head that is normed, weighed and rotated: the norm's E for each element (norm-bounds.ts), carried through the rotation,
 * which adds two products and one sum, fused or not: |c|·E + |s|·E′ + γ_2·((|n| + E)·|c| + (|n′| + E′)·|s|) and what a driver may flush.
 * Where a value is NaN or infinite its class is due, and no bound applies (0 is given).
 * @param angles cosines of the rotary/2 pairs, then their sines.
 */
export function turnedHeadBounds(head: Float32Array, weight: Float32Array, eps: number, angles: Float32Array): { spec: Float64Array; depth: Float64Array } {
  const headDim = head.length;
  const rotary = angles.length;
  const half = rotary / 2;
  const scale = 1 / Math.sqrt(head.reduce((sum, value) => sum + value * value, 0) / headDim + eps);
  const norm = headNormBounds(head, weight, eps);
  const normed = (i: number): number => Math.abs(head[i]! * scale * weight[i]!);
  const carried = (error: Float64Array, u: number): Float64Array =>
    Float64Array.from({ length: headDim }, (_, i) => {
      let total = error[i]!;
      if (i < rotary) {
        const partner = i < half ? i + half : i - half;
        const cos = Math.abs(angles[i % half]!);
        const sin = Math.abs(angles[half + (i % half)]!);
        const self = normed(i) + error[i]!;
        const other = normed(partner) + error[partner]!;
        total = cos * error[i]! + sin * error[partner]! + gamma(2, u) * (self * cos + other * sin) + FLUSH * (self + other + cos + sin + 3);
      }
      return Number.isFinite(total) ? total : 0;
    });
  return { spec: carried(norm.spec, U_SPEC), depth: carried(norm.depth, U_NEAREST) };
}

/** The table that the engine computes: per position cos[rotary/2], then sin[rotary/2]; theta 1e7, float64, then float32. */
export function angleTable(context: number, rotary: number): Float32Array {
  const half = rotary / 2;
  return Float32Array.from({ length: context * rotary }, (_, i) => {
    const angle = Math.floor(i / rotary) * 1e7 ** -((i % half) / half);
    return i % rotary < half ? Math.cos(angle) : Math.sin(angle);
  });
}
