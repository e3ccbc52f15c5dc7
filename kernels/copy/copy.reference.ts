/**
 * Rows of words moved from one stride to another.
 * @param out words [rows, outStride] as they are before.
 * @returns a whole new `out`: the first `width` words of each row replaced, the rest as it was.
 */
export function copyReference(
  shape: Readonly<{ rows: number; width: number; sourceStride: number; outStride: number }>,
  source: Uint32Array,
  out: Uint32Array,
): Uint32Array {
  const after = Uint32Array.from(out);
  for (let row = 0; row < shape.rows; row++) {
    for (let i = 0; i < shape.width; i++) after[row * shape.outStride + i] = source[row * shape.sourceStride + i]!;
  }
  return after;
}
