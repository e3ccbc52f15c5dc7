/**
 * RMS norm of one row and its 4-bit product in float64: m[i] = x[i] / √(Σ_j x[j]² / k + eps)·norm[i], then by slices of 32 weights, which
 * have one scale and one bias, y[c] = Σ_slices scale·Σ q·m + bias·Σ m. q is the nibble i mod 8 (lowest first) of word i / 8 of row c, scale
 * and bias the bf16 values i / 64 of the row, whose lists run on from row to row.
 */
export interface NormQmmQ4Reference {
  /** y [n] */
  readonly values: Float64Array;
  /** Σ (|scale|·q + |bias|)·|m|: the terms of each product. */
  readonly terms: Float64Array;
  /** Σ_slices |scale|·Σ q·max |m|, max over the slice. */
  readonly peaks: Float64Array;
  /**
   * Σ |m| + Σ (|scale|·(q + 1) + |bias|)·(1 + |norm|·(1 + r) + r·|x|) + k with r the inverse root: how much an absolute error of one unit
   * in every operand, normed element and product can move an output.
   */
  readonly units: Float64Array;
}

/** @param x and norm float32 [k]; codes u32 [n, k/8]; scales and biases bf16 pairs, flat over [n·k/64]; eps is taken as float32. */
export function normQmmQ4Reference(
  shape: Readonly<{ n: number; k: number; eps: number }>,
  x: Float32Array,
  norm: Float32Array,
  codes: Uint32Array,
  scales: Uint32Array,
  biases: Uint32Array,
): NormQmmQ4Reference {
  const { n, k } = shape;
  let squares = 0;
  for (let i = 0; i < k; i++) squares += x[i]! * x[i]!;
  const root = 1 / Math.sqrt(squares / k + Math.fround(shape.eps));
  const normed = Float64Array.from(x, (value, i) => value * root * norm[i]!);
  const loose = Float64Array.from(x, (value, i) => 1 + Math.abs(norm[i]!) * (1 + root) + root * Math.abs(value));
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
        const input = normed[i]!;
        dot += code * input;
        sum += input;
        codeSum += code;
        peak = Math.max(peak, Math.abs(input));
        term += (Math.abs(scale) * code + Math.abs(bias)) * Math.abs(input);
        unit += Math.abs(input) + (Math.abs(scale) * (code + 1) + Math.abs(bias)) * loose[i]!;
      }
      value += scale * dot + bias * sum;
      peaks[column]! += Math.abs(scale) * codeSum * peak;
    }
    values[column] = value;
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
