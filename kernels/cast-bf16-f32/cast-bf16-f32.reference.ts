/**
 * bf16 pairs to float32 bits: a bf16 is the upper half of the float32 of the same value. A NaN keeps its sign and payload and is quieted.
 * @param pairs two a word, the lower half first. @returns `count` words.
 */
export function castBf16F32Reference(count: number, pairs: Uint32Array): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => {
    const word = pairs[Math.floor(i / 2)]!;
    const half = i % 2 === 0 ? word % 65536 : Math.floor(word / 65536);
    const exponent = Math.floor(half / 128) % 256;
    const fraction = half % 128;
    const signals = exponent === 255 && fraction > 0 && fraction < 64;
    return (signals ? half + 64 : half) * 65536;
  });
}
