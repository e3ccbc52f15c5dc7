/**
 * float32 bits to bf16 pairs, from the definition: of the two bf16 neighbours of a value the nearer one, and the even one where they are
 * equally near; infinity counts as the neighbour above the largest finite bf16, at 2¹²⁸. A NaN keeps its sign and upper payload and is
 * quieted. @returns ⌈count/2⌉ words, the lower half first; the upper half behind an odd count is 0.
 */
export function castF32Bf16Reference(bits: Uint32Array): Uint32Array {
  const out = new Uint32Array(Math.ceil(bits.length / 2));
  for (let i = 0; i < bits.length; i++) {
    const half = nearest(bits[i]!);
    out[Math.floor(i / 2)]! += i % 2 === 0 ? half : half * 65536;
  }
  return out;
}

function nearest(bits: number): number {
  const sign = bits >= 2 ** 31 ? 2 ** 15 : 0;
  const magnitude = bits % 2 ** 31;
  const below = Math.floor(magnitude / 65536);
  const exponent = Math.floor(below / 128);
  if (exponent === 255) return sign + below + (magnitude % 2 ** 23 > 0 && Math.floor(below / 64) % 2 === 0 ? 64 : 0);
  // Bits that follow each other stand for values that do, and 0x7f80 stands where the next value, 2¹²⁸, would be.
  const value = valueOf(magnitude / 65536);
  const down = value - valueOf(below);
  const up = valueOf(below + 1) - value;
  return sign + (down < up || (down === up && below % 2 === 0) ? below : below + 1);
}

/** The value of bf16 bits without their sign; a fraction of a bit is a part of the way to the next. */
function valueOf(bits: number): number {
  const exponent = Math.floor(bits / 128);
  const fraction = (bits - exponent * 128) / 128;
  return exponent === 0 ? fraction * 2 ** -126 : (1 + fraction) * 2 ** (exponent - 127);
}
