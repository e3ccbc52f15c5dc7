/**
 * 4-bit matrix product in float64, from the definition of the checkpoint layout: element i of weight row c is
 * scale·q + bias, q the nibble i mod 8 (lowest first) of word i / 8 of the row, scale and bias the bf16 values i / 64 of
 * the row, whose lists run on from row to row without padding.
 */
export interface QmmQ4Reference {
  /** y [rows, n] */
  readonly values: Float64Array;
  /** Σ |x|·(|scale·q| + |bias|): the terms as the definition has them. */
  readonly terms: Float64Array;
  /** Σ |x·w|: the terms once the weight is formed. */
  readonly products: Float64Array;
  /** Σ |x| + Σ |w| + k: how much an absolute error of one unit in every operand and product can move an output. */
  readonly units: Float64Array;
}

/** Row `column` of w, and |scale·q| + |bias| of each element, written into `weights` and `sizes`, both of length k. */
export function qmmQ4Row(
  k: number,
  column: number,
  codes: Uint32Array,
  scales: Uint32Array,
  biases: Uint32Array,
  weights: Float64Array,
  sizes: Float64Array,
): void {
  for (let group = 0; group < k / 64; group++) {
    const scale = bf16(scales, column * (k / 64) + group);
    const bias = bf16(biases, column * (k / 64) + group);
    for (let i = group * 64; i < group * 64 + 64; i++) {
      const code = (codes[column * (k / 8) + Math.floor(i / 8)]! >>> (4 * (i % 8))) & 15;
      weights[i] = scale * code + bias;
      sizes[i] = Math.abs(scale * code) + Math.abs(bias);
    }
  }
}

/** @param x float32 [rows, k]; codes u32 [n, k/8]; scales and biases bf16 pairs, flat over [n·k/64]. */
export function qmmQ4Reference(
  shape: Readonly<{ rows: number; n: number; k: number }>,
  x: Float32Array,
  codes: Uint32Array,
  scales: Uint32Array,
  biases: Uint32Array,
): QmmQ4Reference {
  const { rows, n, k } = shape;
  const values = new Float64Array(rows * n);
  const terms = new Float64Array(rows * n);
  const products = new Float64Array(rows * n);
  const units = new Float64Array(rows * n);
  const weights = new Float64Array(k);
  const sizes = new Float64Array(k);
  for (let column = 0; column < n; column++) {
    qmmQ4Row(k, column, codes, scales, biases, weights, sizes);
    let weightSum = 0;
    for (let i = 0; i < k; i++) weightSum += Math.abs(weights[i]!);
    for (let row = 0; row < rows; row++) {
      let value = 0;
      let term = 0;
      let product = 0;
      let operand = 0;
      for (let i = 0; i < k; i++) {
        const input = x[row * k + i]!;
        value += input * weights[i]!;
        term += Math.abs(input) * sizes[i]!;
        product += Math.abs(input * weights[i]!);
        operand += Math.abs(input);
      }
      const out = row * n + column;
      values[out] = value;
      terms[out] = term;
      products[out] = product;
      units[out] = operand + weightSum + k;
    }
  }
  return { values, terms, products, units };
}

/**
 * The same product by slices of 32 elements, which have one scale and one bias: Σ_slices scale·Σ q·x + bias·Σ x. Of finite numbers it
 * is the same sum; where x is not finite it is another: ∞ at a code of 0 is NaN here, and ±∞ by the sign of bias in `qmmQ4Reference`.
 * @returns y [rows, n]; `terms` as above; `peaks` Σ_slices |scale|·Σ q·max |x|, max over the slice; `units` Σ |x| + Σ (|scale·q| + |bias| + |scale|) + k.
 */
export function qmmQ4SplitReference(
  shape: Readonly<{ rows: number; n: number; k: number }>,
  x: Float32Array,
  codes: Uint32Array,
  scales: Uint32Array,
  biases: Uint32Array,
): Pick<QmmQ4Reference, 'values' | 'terms' | 'units'> & { readonly peaks: Float64Array } {
  const { rows, n, k } = shape;
  const values = new Float64Array(rows * n);
  const terms = new Float64Array(rows * n);
  const peaks = new Float64Array(rows * n);
  const units = new Float64Array(rows * n).fill(k);
  for (let column = 0; column < n; column++) {
    for (let slice = 0; slice < k / 32; slice++) {
      const scale = bf16(scales, column * (k / 64) + Math.floor(slice / 2));
      const bias = bf16(biases, column * (k / 64) + Math.floor(slice / 2));
      for (let row = 0; row < rows; row++) {
        let dot = 0;
        let sum = 0;
        let dotSize = 0;
        let sumSize = 0;
        let codeSum = 0;
        let peak = 0;
        for (let i = slice * 32; i < slice * 32 + 32; i++) {
          const code = (codes[column * (k / 8) + Math.floor(i / 8)]! >>> (4 * (i % 8))) & 15;
          const input = x[row * k + i]!;
          dot += code * input;
          sum += input;
          dotSize += code * Math.abs(input);
          sumSize += Math.abs(input);
          codeSum += code;
          peak = Math.max(peak, Math.abs(input));
        }
        const out = row * n + column;
        values[out]! += scale * dot + bias * sum;
        terms[out]! += Math.abs(scale) * dotSize + Math.abs(bias) * sumSize;
        peaks[out]! += Math.abs(scale) * codeSum * peak;
        units[out]! += sumSize + Math.abs(scale) * (codeSum + 32) + 32 * Math.abs(bias);
      }
    }
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
