/**
 * Checksum of float32 bits: a = Σ mix(w + (i + 1)·0x9e3779b1), b = Σ mix(w xor mix(i + 0x27d4eb2f)), all mod 2³², where
 * mix is the finaliser of MurmurHash3. BigInt arithmetic, so that nothing depends on how a language wraps.
 */
export function logitsChecksumReference(bits: Uint32Array): Uint32Array {
  const all = 0xffffffffn;
  const mix = (word: bigint): bigint => {
    let h = word;
    h = ((h ^ (h >> 16n)) * 0x85ebca6bn) & all;
    h = ((h ^ (h >> 13n)) * 0xc2b2ae35n) & all;
    return h ^ (h >> 16n);
  };
  let a = 0n;
  let b = 0n;
  for (let i = 0; i < bits.length; i++) {
    const word = BigInt(bits[i]!);
    const place = BigInt(i);
    a = (a + mix((word + (place + 1n) * 0x9e3779b1n) & all)) & all;
    b = (b + mix(word ^ mix((place + 0x27d4eb2fn) & all))) & all;
  }
  return Uint32Array.of(Number(a), Number(b));
}
