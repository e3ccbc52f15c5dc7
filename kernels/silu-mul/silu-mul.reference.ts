type Numbers = ArrayLike<number>;

/** gate / (1 + e^(−gate)) · up in float64, rows of n elements read in place. @returns `out` [rows, n]. */
export function siluMulReference(shape: { rows: number; n: number; stride: number; upOffset: number }, inputs: { gate: Numbers; up: Numbers }): Float64Array {
  const { rows, n, stride, upOffset } = shape;
  const out = new Float64Array(rows * n);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < n; i++) {
      const gate = inputs.gate[row * stride + i]!;
      out[row * n + i] = (gate / (1 + Math.exp(-gate))) * inputs.up[row * stride + upOffset + i]!;
    }
  }
  return out;
}
