/**
 * RMS norm of one row, its 4-bit products with gate's and up's rows of one matrix, and silu(gate)·up in float64. m[i] = x[i] / √(Σ_j x[j]² / k
 * + eps)·norm[i]; gate[c] is row c's product with m and up[c] row upRow + c's, by slices of 32 weights, which have one scale and one bias:
 * Σ_slices scale·Σ q·m + bias·Σ m. q is the nibble i mod 8 (lowest first) of word i / 8 of the row, scale and bias the bf16 values i / 64 of
 * the row, whose lists run on from row to row. silu(g) = g / (1 + e^(−g)).
 */
export interface NormGateUpQ4Reference {
  /** out [n] */
  readonly values: Float64Array;
  readonly gate: RowProducts;
  readonly up: RowProducts;
}

/** The products of n rows. */
export interface RowProducts {
  readonly values: Float64Array;
  /** Σ (|scale|·q + |bias|)·|m|: the terms of each product. */
  readonly terms: Float64Array;
  /** Σ_slices |scale|·Σ q·max |m|, max over the slice. */
  readonly peaks: Float64Array;
  /**
   * Σ |m| + Σ (|scale|·(q + 1) + |bias|)·(1 + |norm|·(1 + r) + r·|x|) + k with r the inverse root: how much an absolute error of one unit
   * in every operand, normed element and product can move a product.
   */
  readonly units: Float64Array;
}

/** @param x and norm float32 [k]; codes u32 [upRow + n, k/8]; scales and biases bf16 pairs, flat; eps is taken as float32. */
export function normGateUpQ4Reference(
  shape: Readonly<{ n: number; k: number; upRow: number; eps: number }>,
  x: Float32Array,
  norm: Float32Array,
  codes: Uint32Array,
  scales: Uint32Array,
  biases: Uint32Array,
): NormGateUpQ4Reference {
  const { n, k, upRow } = shape;
  let squares = 0;
  for (let i = 0; i < k; i++) squares += x[i]! * x[i]!;
  const root = 1 / Math.sqrt(squares / k + Math.fround(shape.eps));
  const normed = Float64Array.from(x, (value, i) => value * root * norm[i]!);
  const loose = Float64Array.from(x, (value, i) => 1 + Math.abs(norm[i]!) * (1 + root) + root * Math.abs(value));
  const products = (from: number): RowProducts => {
    const values = new Float64Array(n);
    const terms = new Float64Array(n);
    const peaks = new Float64Array(n);
    const units = new Float64Array(n).fill(k);
    for (let column = 0; column < n; column++) {
      const row = from + column;
      for (let slice = 0; slice < k / 32; slice++) {
        const scale = bf16(scales, row * (k / 64) + Math.floor(slice / 2));
        const bias = bf16(biases, row * (k / 64) + Math.floor(slice / 2));
        let dot = 0;
        let sum = 0;
        let codeSum = 0;
        let peak = 0;
        for (let i = slice * 32; i < slice * 32 + 32; i++) {
          const code = (codes[row * (k / 8) + Math.floor(i / 8)]! >>> (4 * (i % 8))) & 15;
          const input = normed[i]!;
          dot += code * input;
          sum += input;
          codeSum += code;
          peak = Math.max(peak, Math.abs(input));
          terms[column]! += (Math.abs(scale) * code + Math.abs(bias)) * Math.abs(input);
          units[column]! += Math.abs(input) + (Math.abs(scale) * (code + 1) + Math.abs(bias)) * loose[i]!;
        }
        values[column]! += scale * dot + bias * sum;
        peaks[column]! += Math.abs(scale) * codeSum * peak;
      }
    }
    return { values, terms, peaks, units };
  };
  const gate = products(0);
  const up = products(upRow);
  return { values: gate.values.map((g, i) => (g / (1 + Math.exp(-g))) * up.values[i]!), gate, up };
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
