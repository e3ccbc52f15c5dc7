type Numbers = ArrayLike<number>;

/**
 * Rotation of the pairs (i, i + rotary/2) by the table's angles, in float64 from the definition; a row at or past `context` is zero.
 * @returns `out` [rows, heads, headDim].
 */
export function ropeReference(
  shape: { rows: number; heads: number; headDim: number; rotary: number; context: number },
  inputs: { x: Numbers; table: Numbers; position: Numbers },
): { out: Float64Array } {
  const { rows, heads, headDim, rotary, context } = shape;
  const out = new Float64Array(rows * heads * headDim);
  const half = rotary / 2;
  for (let row = 0; row < rows; row++) {
    const at = inputs.position[0]! + row;
    if (at >= context) continue;
    for (let head = 0; head < heads; head++) {
      const base = (row * heads + head) * headDim;
      for (let i = 0; i < half; i++) {
        const cos = inputs.table[at * rotary + i]!;
        const sin = inputs.table[at * rotary + half + i]!;
        const first = inputs.x[base + i]!;
        const second = inputs.x[base + half + i]!;
        out[base + i] = first * cos - second * sin;
        out[base + half + i] = second * cos + first * sin;
      }
      for (let i = rotary; i < headDim; i++) out[base + i] = inputs.x[base + i]!;
    }
  }
  return { out };
}
