/**
 * 4-bit product of one row added to the residual in float64, by slices of 32 weights, which have one scale and one bias:
 * out[c] = residual[c] + Σ_slices scale·Σ q·x + bias·Σ x, q the nibble i mod 8 (lowest first) of word i / 8 of row c, scale and bias
 * the bf16 values i / 64 of the row, whose lists run on from row to row. Where x is infinite and a code 0 the sum is NaN, as 0·∞ is.
 */
export interface QmmQ4AddReference {
  /** out [n] */
  readonly values: Float64Array;
  /** Σ |scale|·Σ q|x| + |bias|·Σ |x|: the terms of the product. */
  readonly terms: Float64Array;
  /** Σ_slices |scale|·Σ q·max |x|, max over the slice. */
  readonly peaks: Float64Array;
  /** Σ |x| + Σ (|scale·q| + |bias| + |scale|) + k: how much an absolute error of one unit in every operand can move an output. */
  readonly units: Float64Array;
}

/** @param x float32 [k]; codes u32 [n, k/8]; scales and biases bf16 pairs, flat over [n·k/64]; residual float32 [n]. */
export function qmmQ4AddReference(
  shape: Readonly<{ n: number; k: number }>,
  x: Float32Array,
  codes: Uint32Array,
  scales: Uint32Array,
  biases: Uint32Array,
  residual: Float32Array,
): QmmQ4AddReference {
  const { n, k } = shape;
  const values = new Float64Array(n);
  const terms = new Float64Array(n);
  const peaks = new Float64Array(n);
  const units = new Float64Array(n);
  for (let column = 0; column < n; column++) {
    let value = 0;
    let term = 0;
    let unit = k;
    for (let slice = 0; slice < k / 32; slice++) {
      const scale = bf16(scales, column * (k / 64) + Math.floor(slice / 2));
      const bias = bf16(biases, column * (k / 64) + Math.floor(slice / 2));
      let dot = 0;
      let sum = 0;
      let codeSum = 0;
      let peak = 0;
      for (let i = slice * 32; i < slice * 32 + 32; i++) {
        const code = (codes[column * (k / 8) + Math.floor(i / 8)]! >>> (4 * (i % 8))) & 15;
        const input = x[i]!;
        dot += code * input;
        sum += input;
        codeSum += code;
        peak = Math.max(peak, Math.abs(input));
        term += (Math.abs(scale) * code + Math.abs(bias)) * Math.abs(input);
        unit += Math.abs(input) + Math.abs(scale) * (code + 1) + Math.abs(bias);
      }
      value += scale * dot + bias * sum;
      peaks[column]! += Math.abs(scale) * codeSum * peak;
    }
    values[column] = residual[column]! + value;
    terms[column] = term;
    units[column] = unit;
  }
  return { values, terms, peaks, units };
}

function bf16(pairs: Uint32Array, index: number): number {
  const word = pairs[Math.floor(index / 2)]!;
  const half = index % 2 === 0 ? word % 65536 : Math.floor(word / 65536);
  const sign = half >= 32768 ? -1 : 1;
  const exponent = Math.floor(half / 128) % 256;
  const fraction = half % 128;
  if (exponent === 255) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -133;
  return sign * (1 + fraction / 128) * 2 ** (exponent - 127);
}
