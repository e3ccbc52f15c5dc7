/** Bits of float32 and bf16 values, for fills and expectations. */

const word = new DataView(new ArrayBuffer(4));

/** The float32 with these bits, as a number. A NaN's payload does not survive: write NaNs as bits. */
export function f32FromBits(bits: number): number {
  word.setUint32(0, bits);
  return word.getFloat32(0);
}

/** The bits of the bf16 nearest to a finite value (ties to even). */
export function bf16Bits(value: number): number {
  word.setFloat32(0, value);
  const bits = word.getUint32(0);
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** Packs bf16 bits in pairs, the lower half first; an odd count leaves the last upper half 0. */
export function packPairs(halves: ArrayLike<number>): Uint32Array {
  const words = new Uint32Array(Math.ceil(halves.length / 2));
  for (let i = 0; i < halves.length; i++) words[i >> 1]! |= halves[i]! << (16 * (i & 1));
  return words;
}

/** A view of a float32 array's bits. */
export function bitsOf(values: Float32Array): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length);
}
