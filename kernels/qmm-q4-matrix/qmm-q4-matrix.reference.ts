/**
 * 4-bit matrix product of halves in float64, from the layouts. y[r, c] = 2^−e[r] · Σ_g (scale·Σ_i (q − 8)·h + (bias + 8·scale)·s[r, g]), g by 64
 * elements of k, h the sum of an element's halves; NaN where row r has exponent word 32767, or column c a scale or bias that is not finite.
 */
export interface QmmQ4MatrixReference {
  /** [rows, n] each; all but `values` before the factor 2^−e. */
  readonly values: Float64Array;
  /** Σ |scale·(q − 8)·h| over every half. */
  readonly products: Float64Array;
  /** Σ_g (|8·scale| + |bias|)·|s|. */
  readonly offsets: Float64Array;
  /** Σ_g (|8·scale| + |bias|): by how much an error of one unit in every s moves y. */
  readonly offsetUnits: Float64Array;
  /** Σ_g |8·scale|·Σ|h| of the groups whose scale is below 2⁻¹⁴ once its column is scaled: what halves may lose of them. */
  readonly small: Float64Array;
  /** By row: Σ |h|, Σ |s|, and 2^−e (NaN of a row that is not finite). */
  readonly halfSums: Float64Array;
  readonly sumSums: Float64Array;
  readonly factors: Float64Array;
  /** By column: the power of two that its weights are scaled by. */
  readonly ups: Float64Array;
}

export interface QmmQ4MatrixInputs {
  readonly halves: Uint32Array;
  readonly sums: Float32Array;
  readonly exponents: Uint32Array;
  readonly codes: Uint32Array;
  readonly scales: Uint32Array;
  readonly biases: Uint32Array;
}

export function qmmQ4MatrixReference(
  { rows, n, k, parts }: Readonly<{ rows: number; n: number; k: number; parts: number }>,
  { halves, sums, exponents, codes, scales, biases }: QmmQ4MatrixInputs,
): QmmQ4MatrixReference {
  const groups = k / 64;
  const make = (size: number): Float64Array => new Float64Array(size);
  const [values, products, offsets, offsetUnits, small] = [make(rows * n), make(rows * n), make(rows * n), make(rows * n), make(rows * n)];
  const [halfSums, sumSums, factors, ups] = [make(rows), make(rows), make(rows), make(n)];
  const x = make(rows * parts * k);
  for (let row = 0; row < rows; row++) {
    const word = exponents[row]!;
    factors[row] = word === 32767 ? NaN : 2 ** -(word | 0);
    for (let i = 0; i < parts * k; i++) {
      const place = (i % 4) * 2 + Math.floor((i % 8) / 4);
      const pair = halves[(row * parts * k) / 2 + Math.floor(i / 8) * 4 + Math.floor(place / 2)]!;
      const value = half(place % 2 === 0 ? pair % 65536 : Math.floor(pair / 65536));
      x[row * parts * k + i] = value;
      halfSums[row]! += Math.abs(value);
    }
    for (let g = 0; g < groups; g++) sumSums[row]! += Math.abs(sums[row * groups + g]!);
  }
  for (let column = 0; column < n; column++) {
    const scale = Array.from({ length: groups }, (_, g) => bf16(scales, column * groups + g));
    const bias = Array.from({ length: groups }, (_, g) => bf16(biases, column * groups + g));
    const finite = [...scale, ...bias].every(Number.isFinite);
    ups[column] = 2 ** upOf(scale, bias);
    for (let row = 0; row < rows; row++) {
      const out = row * n + column;
      let value = 0;
      for (let g = 0; g < groups; g++) {
        const s = scale[g]!;
        const sum = sums[row * groups + g]!;
        let dot = 0;
        let size = 0;
        let whole = 0;
        for (let i = g * 64; i < g * 64 + 64; i++) {
          const code = (codes[column * (k / 8) + Math.floor(i / 8)]! >>> (4 * (i % 8))) & 15;
          for (let part = 0; part < parts; part++) {
            const h = x[(row * parts + part) * k + i]!;
            dot += (code - 8) * h;
            size += Math.abs((code - 8) * h);
            whole += Math.abs(h);
          }
        }
        const unit = Math.abs(8 * s) + Math.abs(bias[g]!);
        value += s * dot + (bias[g]! + 8 * s) * sum;
        products[out]! += Math.abs(s) * size;
        offsets[out]! += unit * Math.abs(sum);
        offsetUnits[out]! += unit;
        if (Math.abs(s) * ups[column]! < 2 ** -14) small[out]! += Math.abs(8 * s) * whole;
      }
      values[out] = finite ? value * factors[row]! : NaN;
    }
  }
  return { values, products, offsets, offsetUnits, small, halfSums, sumSums, factors, ups };
}

/** 7 − M with 2^M the power of two at or below the largest of 8·|scale| and |bias|, within ±126. */
function upOf(scale: readonly number[], bias: readonly number[]): number {
  let most = -127;
  for (const value of scale) while (most < 131 && Math.abs(8 * value) >= 2 ** (most + 1)) most++;
  for (const value of bias) while (most < 131 && Math.abs(value) >= 2 ** (most + 1)) most++;
  return Math.max(-126, Math.min(126, 7 - most));
}

function half(bits: number): number {
  const sign = bits >= 32768 ? -1 : 1;
  const exponent = Math.floor(bits / 1024) % 32;
  const fraction = bits % 1024;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function bf16(pairs: Uint32Array, index: number): number {
  const word = pairs[Math.floor(index / 2)]!;
  const bits = index % 2 === 0 ? word % 65536 : Math.floor(word / 65536);
  const sign = bits >= 32768 ? -1 : 1;
  const exponent = Math.floor(bits / 128) % 256;
  const fraction = bits % 128;
  if (exponent === 255) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -133;
  return sign * (1 + fraction / 128) * 2 ** (exponent - 127);
}
