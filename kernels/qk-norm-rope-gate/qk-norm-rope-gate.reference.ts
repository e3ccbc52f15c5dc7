type Numbers = ArrayLike<number>;

/**
 * RMS norm of each query and key head, rotation of its pairs (i, i + rotary/2) by the table's angles, and each head's gate as it is,
 * in float64 from the definition. Queries and keys of a row at or past `context` are zero.
 * @returns `q` and `gate` [rows, heads, headDim], `k` [rows, kvHeads, headDim].
 */
export function qkNormRopeGateReference(
  shape: {
    rows: number;
    heads: number;
    kvHeads: number;
    headDim: number;
    rotary: number;
    context: number;
    qStride: number;
    kStride: number;
    eps: number;
  },
  inputs: { qg: Numbers; kProj: Numbers; weight: Numbers; table: Numbers; position: Numbers },
): { q: Float64Array; k: Float64Array; gate: Float64Array } {
  const { rows, heads, kvHeads, headDim, rotary, context, qStride, kStride, eps } = shape;
  const { qg, kProj, weight, table, position } = inputs;
  const q = new Float64Array(rows * heads * headDim);
  const k = new Float64Array(rows * kvHeads * headDim);
  const gate = new Float64Array(rows * heads * headDim);
  const half = rotary / 2;
  for (let row = 0; row < rows; row++) {
    const at = position[0]! + row;
    const normAndTurn = (x: Numbers, source: number, weights: number, out: Float64Array, destination: number): void => {
      if (at >= context) return;
      let squares = 0;
      for (let i = 0; i < headDim; i++) squares += x[source + i]! ** 2;
      const root = Math.sqrt(squares / headDim + eps);
      const normed = (i: number): number => (x[source + i]! / root) * weight[weights + i]!;
      for (let i = 0; i < half; i++) {
        const cos = table[at * rotary + i]!;
        const sin = table[at * rotary + half + i]!;
        out[destination + i] = normed(i) * cos - normed(i + half) * sin;
        out[destination + half + i] = normed(i + half) * cos + normed(i) * sin;
      }
      for (let i = rotary; i < headDim; i++) out[destination + i] = normed(i);
    };
    for (let head = 0; head < heads; head++) {
      const source = row * qStride + head * 2 * headDim;
      const destination = (row * heads + head) * headDim;
      normAndTurn(qg, source, 0, q, destination);
      for (let i = 0; i < headDim; i++) gate[destination + i] = qg[source + headDim + i]!;
    }
    for (let head = 0; head < kvHeads; head++) normAndTurn(kProj, row * kStride + head * headDim, headDim, k, (row * kvHeads + head) * headDim);
  }
  return { q, k, gate };
}
