/** Rows of words by id; an id at or past `entries` gives a row of zero words. @returns out [rows, width]. */
export function gatherReference(shape: Readonly<{ rows: number; width: number; entries: number }>, ids: Uint32Array, table: Uint32Array): Uint32Array {
  const out = new Uint32Array(shape.rows * shape.width);
  for (let row = 0; row < shape.rows; row++) {
    const id = ids[row]!;
    if (id >= shape.entries) continue;
    for (let i = 0; i < shape.width; i++) out[row * shape.width + i] = table[id * shape.width + i]!;
  }
  return out;
}
