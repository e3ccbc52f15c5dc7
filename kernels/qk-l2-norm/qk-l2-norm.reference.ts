type Numbers = ArrayLike<number>;

/** L2 norms with 1e-6 under the root, queries then scaled by dk^-0.5, in float64 from the definition. @returns both [rows, kHeads, dk]. */
export function qkL2NormReference(
  shape: { rows: number; kHeads: number; dk: number; rowStride: number },
  inputs: { x: Numbers },
): { q: Float64Array; k: Float64Array } {
  const { rows, kHeads, dk, rowStride } = shape;
  const q = new Float64Array(rows * kHeads * dk);
  const k = new Float64Array(rows * kHeads * dk);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < kHeads; head++) {
      const queries = row * rowStride + head * dk;
      const keys = queries + kHeads * dk;
      let querySquares = 0;
      let keySquares = 0;
      for (let i = 0; i < dk; i++) {
        querySquares += inputs.x[queries + i]! ** 2;
        keySquares += inputs.x[keys + i]! ** 2;
      }
      for (let i = 0; i < dk; i++) {
        const at = (row * kHeads + head) * dk + i;
        q[at] = inputs.x[queries + i]! / Math.sqrt(querySquares + 1e-6) / Math.sqrt(dk);
        k[at] = inputs.x[keys + i]! / Math.sqrt(keySquares + 1e-6);
      }
    }
  }
  return { q, k };
}
