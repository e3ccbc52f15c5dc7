type Numbers = ArrayLike<number>;

/** RMS norm of each head, in float64 from the definition. @returns `out` [rows, heads, headDim]. */
export function qkNormReference(
  shape: { rows: number; heads: number; headDim: number; rowStride: number; headStride: number; eps: number },
  inputs: { x: Numbers; weight: Numbers },
): { out: Float64Array } {
  const { rows, heads, headDim, rowStride, headStride, eps } = shape;
  const out = new Float64Array(rows * heads * headDim);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < heads; head++) {
      const source = row * rowStride + head * headStride;
      let squares = 0;
      for (let i = 0; i < headDim; i++) squares += inputs.x[source + i]! ** 2;
      const root = Math.sqrt(squares / headDim + eps);
      for (let i = 0; i < headDim; i++) out[(row * heads + head) * headDim + i] = (inputs.x[source + i]! / root) * inputs.weight[i]!;
    }
  }
  return { out };
}
