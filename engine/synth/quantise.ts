/**
 * MLX's affine quantisation to 4 bits in groups of 64, in float32 arithmetic: the end of a group's range that is farther from 0 becomes
 * its bias exactly, and the scale is fitted so that 0 is a code too. Only operations that IEEE 754 rounds exactly: the same row gives
 * the same bytes on every machine.
 */
const GROUP = 64;
const SMALLEST_SCALE = Math.fround(1e-7);

/** Rows of one matrix, as they lie in the file: codes [rows, k/8], bf16 scales and biases [rows, k/64]. */
export interface QuantisedRows {
  readonly codes: Uint32Array<ArrayBuffer>;
  readonly scales: Uint16Array<ArrayBuffer>;
  readonly biases: Uint16Array<ArrayBuffer>;
}

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The bits of the bf16 nearest to a float32 (ties to even). */
export function toBf16(value: number): number {
  float[0] = value;
  const word = bits[0]!;
  return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
}

function fromBf16(half: number): number {
  bits[0] = half << 16;
  return float[0]!;
}

/** Where a float64's last bit is 1. */
const ONES = 1.5 * 2 ** 52;

/** To the nearest whole number, ties to even, as the float64 addition rounds: exact for |value| < 2⁵¹. */
function roundEven(value: number): number {
  return value + ONES - ONES;
}

/**
 * Quantises whole groups.
 * @param weights rounded to bf16 first, in place, since a model is stored as bf16 before it is quantised; a multiple of 64 of them.
 * @param into receives one group after the other, from index 0.
 */
export function quantise(weights: Float32Array, into: QuantisedRows): void {
  const words = new Uint32Array(weights.buffer, weights.byteOffset, weights.length);
  for (let i = 0; i < words.length; i++) words[i] = (words[i]! + 0x7fff + ((words[i]! >>> 16) & 1)) & 0xffff0000;
  for (let group = 0; group * GROUP < weights.length; group++) quantiseGroup(weights, group, into);
}

function quantiseGroup(weights: Float32Array, group: number, { codes, scales, biases }: QuantisedRows): void {
  const start = group * GROUP;
  let low = weights[start]!;
  let high = low;
  for (let i = start; i < start + GROUP; i++) {
    const weight = weights[i]!;
    if (weight < low) low = weight;
    if (weight > high) high = weight;
  }
  const lowEdge = Math.abs(low) > Math.abs(high);
  const width = Math.max(Math.fround(Math.fround(high - low) / 15), SMALLEST_SCALE);
  const edge = lowEdge ? low : high;
  const rough = lowEdge ? width : -width;
  const zeroCode = roundEven(Math.fround(edge / rough));
  scales[group] = toBf16(zeroCode === 0 ? rough : Math.fround(edge / zeroCode));
  biases[group] = toBf16(zeroCode === 0 ? 0 : edge);
  const scale = fromBf16(scales[group]);
  const bias = fromBf16(biases[group]);
  for (let i = start; i < start + GROUP; i += 8) {
    let packed = 0;
    for (let place = 0; place < 8; place++) {
      const code = roundEven(Math.fround(Math.fround(weights[i + place]! - bias) / scale)) | 0;
      packed |= (code < 0 ? 0 : code > 15 ? 15 : code) << (4 * place);
    }
    codes[i / 8] = packed;
  }
}
