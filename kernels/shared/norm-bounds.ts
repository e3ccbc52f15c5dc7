import { FLUSH, gamma, U_NEAREST, U_SPEC } from './bounds.ts';

/**
 * Relative error of WGSL's inverseSqrt (2 ULP) of a positive sum that is off by a fraction `sum` of itself:
 * (1 + δ)^(−1/2) is within δ/2 · (1 + 2δ) of 1 for every δ < 0.01.
 */
export function inverseRootRelative(sum: number): number {
  return (sum / 2) * (1 + 2 * sum) * (1 + 2 * U_SPEC) + 2 * U_SPEC;
}

/** Lanes of the workgroups that sum squares in qk-norm, qk-l2-norm and gated-rms-norm, and the levels of their tree. */
export const NORM_LANES = 64;
const NORM_LEVELS = 6;

/** Roundings on the longest path of such a sum of `n` squares: the square, the lane's additions, the tree's. */
export function squaresDepth(n: number): number {
  return Math.ceil(n / NORM_LANES) + NORM_LEVELS + 1;
}

/**
 * The sum of `n` squares from `start` on, with every addition passed through `round`, in the order of the shaders: lane t adds
 * elements t, t + 64, …, then a tree adds lanes 32, 16, 8, 4, 2, 1 apart.
 */
export function replaySquares(x: ArrayLike<number>, start: number, n: number, round: (value: number) => number): number {
  const lanes = new Float64Array(NORM_LANES);
  for (let i = 0; i < n; i++) lanes[i % NORM_LANES] = round(lanes[i % NORM_LANES]! + x[start + i]! ** 2);
  for (let apart = NORM_LANES / 2; apart >= 1; apart /= 2) {
    for (let lane = 0; lane < apart; lane++) lanes[lane] = round(lanes[lane]! + lanes[lane + apart]!);
  }
  return lanes[0]!;
}

/** What the elements of one normed and weighed head may be off by, see `headNormBounds`. */
interface HeadNormBounds {
  readonly spec: Float64Array;
  readonly depth: Float64Array;
}

/**
 * Bounds of x·weight / sqrt(mean of x² + eps) over one head, as qk-norm and qk-norm-rope-gate compute it. Squares are positive, so their
 * sum's error is relative: γ_n in any order; division by n 2.5 ULP and + eps one rounding, together γ_{n+4}. inverseSqrt halves it and
 * adds 2 ULP, two products two roundings. Depth: the shader's own order at 2⁻²⁴, and the table's division, inverseSqrt and eps.
 * Flushing x, weight or a product moves an element by at most 2⁻¹²⁶·(1 + |w|(1 + r) + r|x|) with r the inverse root.
 */
export function headNormBounds(head: Float32Array, weight: Float32Array, eps: number): HeadNormBounds {
  const n = head.length;
  const scale = 1 / Math.sqrt(head.reduce((sum, value) => sum + value * value, 0) / n + eps);
  const bound = (relative: number) =>
    Float64Array.from(head, (value, i) => {
      const w = Math.abs(weight[i]!);
      return Math.abs(value * scale * w) * relative + FLUSH * (1 + w * (1 + scale) + scale * Math.abs(value));
    });
  return {
    spec: bound(inverseRootRelative(gamma(n + 4, U_SPEC)) + gamma(3, U_SPEC)),
    depth: bound(inverseRootRelative(gamma(squaresDepth(n), U_NEAREST) + 3.5 * U_SPEC) + gamma(3, U_NEAREST)),
  };
}

/** Lanes of the workgroup that sums the squares of a row in rms-norm and shared/norm-stage.wgsl, and the sums that one lane adds of theirs. */
export const ROW_LANES = 256;
const ROW_BRANCH = 16;

/**
 * Relative error of an element x·r·weight of a normed row of `n`, see `headNormBounds`. Depth: a lane adds up to 4·ceil(n / 1024) squares,
 * sixteen lanes sixteen sums each and every lane those.
 */
export function rowNormRelative(n: number): { readonly spec: number; readonly depth: number } {
  const squares = 4 * Math.ceil(n / (4 * ROW_LANES)) + 31;
  return {
    spec: inverseRootRelative(gamma(n + 4, U_SPEC)) + gamma(3, U_SPEC),
    depth: inverseRootRelative(gamma(squares, U_NEAREST) + 3.5 * U_SPEC) + gamma(3, U_NEAREST),
  };
}

/**
 * Sum of the squares of `n` elements from `start` on, with every addition passed through `round`, in the order of the shaders: lanes by
 * fours of elements, then sixteen neighbouring lanes, then those sixteen.
 */
export function replayRowSquares(x: Float32Array, start: number, n: number, round: (value: number) => number): number {
  const lanes = new Float64Array(ROW_LANES);
  for (let i = 0; i < n; i++) {
    const lane = Math.floor(i / 4) % ROW_LANES;
    lanes[lane] = round(lanes[lane]! + x[start + i]! ** 2);
  }
  const branches = Array.from({ length: ROW_LANES / ROW_BRANCH }, (_, branch) =>
    lanes.subarray(branch * ROW_BRANCH, (branch + 1) * ROW_BRANCH).reduce((sum, lane) => round(sum + lane)),
  );
  return branches.reduce((sum, branch) => round(sum + branch));
}
