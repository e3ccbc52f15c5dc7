type Numbers = ArrayLike<number>;

/**
 * RMS norm of one token's query and key heads, rotation of their pairs (i, i + rotary/2) by the table's angles, and keys and values put into
 * the caches at the token's position, in float64 from the definition. At or past `context` queries are zero and the caches stay.
 * @returns `q` [heads, headDim], and the caches [context, kvHeads, headDim] after the launch.
 */
export function qkNormRopeWriteReference(
  shape: { heads: number; kvHeads: number; headDim: number; rotary: number; context: number; kOffset: number; vOffset: number; eps: number },
  inputs: { x: Numbers; weight: Numbers; table: Numbers; position: Numbers; kCache: Numbers; vCache: Numbers },
): { q: Float64Array; kCache: Float64Array; vCache: Float64Array } {
  const { heads, kvHeads, headDim, rotary, context, kOffset, vOffset, eps } = shape;
  const { x, weight, table } = inputs;
  const at = inputs.position[0]!;
  const q = new Float64Array(heads * headDim);
  const kCache = Float64Array.from(inputs.kCache);
  const vCache = Float64Array.from(inputs.vCache);
  if (at >= context) return { q, kCache, vCache };
  const half = rotary / 2;
  const normAndTurn = (source: number, weights: number, out: Float64Array, destination: number): void => {
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
  for (let head = 0; head < heads; head++) normAndTurn(head * 2 * headDim, 0, q, head * headDim);
  for (let head = 0; head < kvHeads; head++) {
    const destination = (at * kvHeads + head) * headDim;
    normAndTurn(kOffset + head * headDim, headDim, kCache, destination);
    for (let i = 0; i < headDim; i++) vCache[destination + i] = x[vOffset + head * headDim + i]!;
  }
  return { q, kCache, vCache };
}
