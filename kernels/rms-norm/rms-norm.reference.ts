/** Root-mean-square norm in float64: out[r, i] = x[r, i] / sqrt((Σ_j x[r, j]²) / n + eps) · weight[i]. */
export interface RmsNormReference {
  /** out [rows, n] */
  readonly values: Float64Array;
  /** 1 / sqrt(mean + eps) of each row. */
  readonly scales: Float64Array;
}

/** @param x float32 [rows, n]; weight float32 [n]; eps is taken as the float32 that the device gets. */
export function rmsNormReference(shape: Readonly<{ rows: number; n: number; eps: number }>, x: Float32Array, weight: Float32Array): RmsNormReference {
  const { rows, n } = shape;
  const eps = Math.fround(shape.eps);
  const values = new Float64Array(rows * n);
  const scales = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let squares = 0;
    for (let i = 0; i < n; i++) squares += x[row * n + i]! ** 2;
    const scale = 1 / Math.sqrt(squares / n + eps);
    scales[row] = scale;
    for (let i = 0; i < n; i++) values[row * n + i] = x[row * n + i]! * scale * weight[i]!;
  }
  return { values, scales };
}
