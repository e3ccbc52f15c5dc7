type Numbers = ArrayLike<number>;

/**
 * The caches with rows position[0] … replaced; rows at or past `context` are dropped.
 * @returns whole new caches [context, kvHeads·headDim].
 */
export function kvWriteReference(
  shape: { rows: number; kvHeads: number; headDim: number; context: number; vStride: number; vOffset: number },
  inputs: { k: Numbers; v: Numbers; position: Numbers; kCache: Numbers; vCache: Numbers },
): { kCache: Float64Array; vCache: Float64Array } {
  const width = shape.kvHeads * shape.headDim;
  const kCache = Float64Array.from(inputs.kCache);
  const vCache = Float64Array.from(inputs.vCache);
  for (let row = 0; row < shape.rows; row++) {
    const at = inputs.position[0]! + row;
    if (at >= shape.context) continue;
    for (let i = 0; i < width; i++) {
      kCache[at * width + i] = inputs.k[row * width + i]!;
      vCache[at * width + i] = inputs.v[row * shape.vStride + shape.vOffset + i]!;
    }
  }
  return { kCache, vCache };
}
