/**
 * Rows as halves in float64, from the definition. A float32 below 2⁻¹²⁶ counts as 0. Row r is scaled by 2^e, the e that brings its largest
 * magnitude into [2¹⁴, 2¹⁵), 126 at most, and 0 for a row of zeros. A half is the scaled element to 11 significant bits, ties to even, or 0
 * below 2⁻¹⁴; the second part is the same of what the first left. A row with a NaN or an infinity has halves and sums of 0.
 */
export interface RowsToHalvesReference {
  /** [rows, parts, k], in the order of x. */
  readonly halves: Float64Array;
  /** [rows, k/64] */
  readonly sums: Float64Array;
  /** Σ |x · 2^e| of each sum. */
  readonly magnitudes: Float64Array;
  /** e by row; NaN for a row that is not finite. */
  readonly exponents: Float64Array;
}

/** @param x float32 [rows, k] */
export function rowsToHalvesReference(shape: Readonly<{ rows: number; k: number; parts: number }>, x: Float32Array): RowsToHalvesReference {
  const { rows, k, parts } = shape;
  const halves = new Float64Array(rows * parts * k);
  const sums = new Float64Array((rows * k) / 64);
  const magnitudes = new Float64Array((rows * k) / 64);
  const exponents = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const elements = Array.from(x.subarray(row * k, row * k + k), (value) => (Math.abs(value) < 2 ** -126 ? 0 : value));
    if (!elements.every(Number.isFinite)) {
      exponents[row] = NaN;
      continue;
    }
    let largest = 0;
    for (const value of elements) largest = Math.max(largest, Math.abs(value));
    let exponent = 0;
    if (largest > 0) {
      exponent = 126;
      while (exponent > -127 && largest * 2 ** exponent >= 2 ** 15) exponent--;
    }
    exponents[row] = exponent;
    for (const [i, value] of elements.entries()) {
      let left = value * 2 ** exponent;
      const group = (row * k) / 64 + Math.floor(i / 64);
      sums[group]! += left;
      magnitudes[group]! += Math.abs(left);
      for (let part = 0; part < parts; part++) {
        const half = elevenBits(left);
        halves[(row * parts + part) * k + i] = half;
        left -= half;
      }
    }
  }
  return { halves, sums, magnitudes, exponents };
}

function elevenBits(value: number): number {
  const size = Math.abs(value);
  if (size < 2 ** -14) return 0;
  let unit = 2 ** -24;
  while (size >= unit * 2048) unit *= 2;
  const below = Math.floor(size / unit);
  const over = size / unit - below;
  const up = over > 0.5 || (over === 0.5 && below % 2 === 1) ? 1 : 0;
  return Math.sign(value) * (below + up) * unit;
}
