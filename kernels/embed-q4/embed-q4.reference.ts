/**
 * Embedding rows of a 4-bit table in float64: out[r, i] = scale·q + bias of table row ids[r] − first, laid out as for qmm-q4. An id
 * that is not one of the `vocab` from `first` on gives zeros.
 * @param ids u32 [rows]; codes u32 [vocab, k/8]; scales and biases bf16 pairs, flat over [vocab·k/64].
 * @returns out [rows, k]
 */
export function embedQ4Reference(
  shape: Readonly<{ rows: number; k: number; vocab: number; first: number }>,
  ids: Uint32Array,
  codes: Uint32Array,
  scales: Uint32Array,
  biases: Uint32Array,
): Float64Array {
  const { rows, k, vocab, first } = shape;
  const out = new Float64Array(rows * k);
  for (let row = 0; row < rows; row++) {
    const id = ids[row]! - first;
    if (id < 0 || id >= vocab) continue;
    for (let i = 0; i < k; i++) {
      const place = id * k + i;
      const code = (codes[Math.floor(place / 8)]! >>> (4 * (i % 8))) & 15;
      out[row * k + i] = bf16(scales, Math.floor(place / 64)) * code + bf16(biases, Math.floor(place / 64));
    }
  }
  return out;
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
