type Numbers = ArrayLike<number>;

/** Rows of a chunk. */
const ROWS = 16;

/**
 * For each chunk of 16 rows and each value head, in float64: T = (I + L)⁻¹, L strictly lower triangular with
 * L_im = β_i·(k_i·k_m)·exp(g_(m+1) + … + g_i), and P lower triangular with P_im = (q_i·k_m)·exp(g_(m+1) + … + g_i).
 * Value head h uses key head floor(h·kHeads/vHeads).
 * @returns `mixes` [rows, vHeads, 2, 16]: a row's 16 columns of T, then of P, zero above the diagonal.
 */
export function gdnChunkPrepareReference(
  shape: { rows: number; kHeads: number; vHeads: number; dk: number },
  inputs: { q: Numbers; k: Numbers; g: Numbers; beta: Numbers },
): { mixes: Float64Array } {
  const { rows, kHeads, vHeads, dk } = shape;
  const mixes = new Float64Array(rows * vHeads * 2 * ROWS);
  for (let head = 0; head < vHeads; head++) {
    const place = (row: number): number => (row * vHeads + head) * 2 * ROWS;
    const product = (a: Numbers, i: number, m: number): number => {
      const kHead = Math.floor((head * kHeads) / vHeads);
      let dot = 0;
      for (let d = 0; d < dk; d++) dot += a[(i * kHeads + kHead) * dk + d]! * inputs.k[(m * kHeads + kHead) * dk + d]!;
      let logDecay = 0;
      for (let t = m + 1; t <= i; t++) logDecay += inputs.g[t * vHeads + head]!;
      return dot * Math.exp(logDecay);
    };
    for (let row = 0; row < rows; row++) {
      const start = row - (row % ROWS);
      for (let m = start; m <= row; m++) mixes[place(row) + ROWS + m - start] = product(inputs.q, row, m);
      // Row `row` of (I + L)·T = I: T's row is the unit row less L's entries times T's earlier rows.
      mixes[place(row) + row - start] = 1;
      for (let t = start; t < row; t++) {
        const entry = inputs.beta[row * vHeads + head]! * product(inputs.k, row, t);
        for (let m = start; m <= t; m++) mixes[place(row) + m - start]! -= entry * mixes[place(t) + m - start]!;
      }
    }
  }
  return { mixes };
}
