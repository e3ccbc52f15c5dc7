type Numbers = ArrayLike<number>;

/**
 * Attention of one new row, in float64 from the definition: softmax with the largest score subtracted, over
 * cache positions 0 … position[0] + row (at most context − 1). Head h uses key-value head floor(h·kvHeads/heads).
 * @returns `out` [rows, heads, headDim].
 */
export function sdpaDecodeReference(
  shape: { rows: number; heads: number; kvHeads: number; headDim: number; context: number },
  inputs: { q: Numbers; kCache: Numbers; vCache: Numbers; position: Numbers },
): { out: Float64Array } {
  const { rows, heads, kvHeads, headDim, context } = shape;
  const out = new Float64Array(rows * heads * headDim);
  for (let row = 0; row < rows; row++) {
    const keys = Math.min(inputs.position[0]! + row + 1, context);
    for (let head = 0; head < heads; head++) {
      const kvHead = Math.floor((head * kvHeads) / heads);
      const base = (row * heads + head) * headDim;
      const scores = new Float64Array(keys);
      for (let j = 0; j < keys; j++) {
        let dot = 0;
        for (let i = 0; i < headDim; i++) dot += inputs.q[base + i]! * inputs.kCache[(j * kvHeads + kvHead) * headDim + i]!;
        scores[j] = dot / Math.sqrt(headDim);
      }
      let largest = -Infinity;
      for (const score of scores) largest = Math.max(largest, score);
      let total = 0;
      for (let j = 0; j < keys; j++) {
        const weight = Math.exp(scores[j]! - largest);
        total += weight;
        for (let i = 0; i < headDim; i++) out[base + i]! += weight * inputs.vCache[(j * kvHeads + kvHead) * headDim + i]!;
      }
      for (let i = 0; i < headDim; i++) out[base + i]! /= total;
    }
  }
  return { out };
}
