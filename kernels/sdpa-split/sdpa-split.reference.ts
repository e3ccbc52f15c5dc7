type Numbers = ArrayLike<number>;

/**
 * Attention of one row by chunks of 32 keys, in float64 from the definition: of each chunk that holds a key up to position[0] (at most
 * context − 1) the largest score m, Σ exp(score − m), and Σ exp(score − m)·v. Head h uses key-value head floor(h·kvHeads/heads).
 * @returns `sums` [heads, chunks, headDim] and `stats` [heads, chunks, 2] of m and Σ exp(score − m); chunks without a key hold zeros.
 */
export function sdpaSplitReference(
  shape: { heads: number; kvHeads: number; headDim: number; context: number },
  inputs: { q: Numbers; kCache: Numbers; vCache: Numbers; position: Numbers },
): { sums: Float64Array; stats: Float64Array } {
  const { heads, kvHeads, headDim, context } = shape;
  const { q, kCache, vCache, position } = inputs;
  const chunks = Math.ceil(context / 32);
  const sums = new Float64Array(heads * chunks * headDim);
  const stats = new Float64Array(heads * chunks * 2);
  const keys = Math.min(position[0]! + 1, context);
  for (let head = 0; head < heads; head++) {
    const kvHead = Math.floor((head * kvHeads) / heads);
    for (let chunk = 0; chunk * 32 < keys; chunk++) {
      const scores: number[] = [];
      for (let j = chunk * 32; j < Math.min(keys, chunk * 32 + 32); j++) {
        let dot = 0;
        for (let i = 0; i < headDim; i++) dot += q[head * headDim + i]! * kCache[(j * kvHeads + kvHead) * headDim + i]!;
        scores.push(dot / Math.sqrt(headDim));
      }
      let largest = -Infinity;
      for (const score of scores) largest = Math.max(largest, score);
      let total = 0;
      const at = head * chunks + chunk;
      for (const [c, score] of scores.entries()) {
        const weight = Math.exp(score - largest);
        total += weight;
        for (let i = 0; i < headDim; i++) sums[at * headDim + i]! += weight * vCache[((chunk * 32 + c) * kvHeads + kvHead) * headDim + i]!;
      }
      stats[at * 2] = largest;
      stats[at * 2 + 1] = total;
    }
  }
  return { sums, stats };
}
