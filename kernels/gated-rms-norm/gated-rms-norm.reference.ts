type Numbers = ArrayLike<number>;

/** x / √(mean x² + eps) · weight · silu(z) for each row, in float64 from the definition. @returns `out` [rows, n]. */
export function gatedRmsNormReference(
  shape: { rows: number; n: number; heads: number; zStride: number; zOffset: number; eps: number },
  inputs: { x: Numbers; z: Numbers; weight: Numbers },
): { out: Float64Array } {
  const { rows, n, heads, zStride, zOffset, eps } = shape;
  const out = new Float64Array(rows * n);
  for (let row = 0; row < rows; row++) {
    let squares = 0;
    for (let i = 0; i < n; i++) squares += inputs.x[row * n + i]! ** 2;
    const root = Math.sqrt(squares / n + eps);
    for (let i = 0; i < n; i++) {
      const gate = inputs.z[Math.floor(row / heads) * zStride + zOffset + (row % heads) * n + i]!;
      out[row * n + i] = (inputs.x[row * n + i]! / root) * inputs.weight[i]! * (gate / (1 + Math.exp(-gate)));
    }
  }
  return { out };
}
