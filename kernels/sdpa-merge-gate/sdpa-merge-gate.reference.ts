type Numbers = ArrayLike<number>;

/**
 * Merges chunks of 32 keys of one row's attention and gates it, in float64 from the definition: with e_c = exp(m_c − max m) over the chunks
 * that hold a key, out = Σ e_c·sums_c / Σ e_c·l_c · sigmoid(gate).
 * @param inputs `sums` [heads, chunks, headDim]; `stats` [heads, chunks, 2] of m and l; `qg` [query | gate] of each head.
 * @returns `out` [heads, headDim].
 */
export function sdpaMergeGateReference(
  shape: { heads: number; headDim: number; context: number },
  inputs: { sums: Numbers; stats: Numbers; qg: Numbers; position: Numbers },
): { out: Float64Array } {
  const { heads, headDim, context } = shape;
  const { sums, stats, qg, position } = inputs;
  const chunks = Math.ceil(context / 32);
  const live = Math.ceil(Math.min(position[0]! + 1, context) / 32);
  const out = new Float64Array(heads * headDim);
  for (let head = 0; head < heads; head++) {
    let largest = -Infinity;
    for (let c = 0; c < live; c++) largest = Math.max(largest, stats[(head * chunks + c) * 2]!);
    let total = 0;
    for (let c = 0; c < live; c++) total += Math.exp(stats[(head * chunks + c) * 2]! - largest) * stats[(head * chunks + c) * 2 + 1]!;
    for (let i = 0; i < headDim; i++) {
      let sum = 0;
      for (let c = 0; c < live; c++) sum += Math.exp(stats[(head * chunks + c) * 2]! - largest) * sums[(head * chunks + c) * headDim + i]!;
      const gate = qg[head * 2 * headDim + headDim + i]!;
      out[head * headDim + i] = sum / total / (1 + Math.exp(-gate));
    }
  }
  return { out };
}
