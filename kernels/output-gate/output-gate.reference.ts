type Numbers = ArrayLike<number>;

/** attn · sigmoid(gate), in float64 from the definition. @returns `out` [rows, heads, headDim]. */
export function outputGateReference(
  shape: { rows: number; heads: number; headDim: number; rowStride: number; headStride: number; gateOffset: number },
  inputs: { attn: Numbers; qg: Numbers },
): { out: Float64Array } {
  const { rows, heads, headDim, rowStride, headStride, gateOffset } = shape;
  const out = new Float64Array(rows * heads * headDim);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < headDim; i++) {
        const at = (row * heads + head) * headDim + i;
        const gate = inputs.qg[row * rowStride + head * headStride + gateOffset + i]!;
        out[at] = inputs.attn[at]! / (1 + Math.exp(-gate));
      }
    }
  }
  return { out };
}
