/**
 * Per span of 1,024 float32 bits, [key, id, first, a, b]: `id` is the lowest index of the span's largest finite logit (−0 equals +0) and
 * `key` that logit as an integer that rises with it, 2³¹ + bits of a value that is not negative and 2³² − 1 − bits of a negative one,
 * or 0xffffffff and 0 where none is finite; `first` is the first index that is not finite, or 0xffffffff; a = Σ mix(w + (i + 1)·0x9e3779b1)
 * and b = Σ mix(w xor mix(i + 0x27d4eb2f)) over the span, mod 2³², mix being MurmurHash3's finaliser and i an index of the whole row.
 * BigInt arithmetic, so that nothing depends on how a language wraps. @returns [spans, 5].
 */
export function greedyPartsReference(bits: Uint32Array): Uint32Array {
  const span = 1024;
  const none = 0xffffffff;
  const parts = new Uint32Array(Math.ceil(bits.length / span) * 5);
  for (let start = 0; start < bits.length; start += span) {
    const words = bits.slice(start, start + span);
    const values = new Float32Array(words.buffer);
    let [best, key, id, first, a, b] = [-Infinity, 0, none, none, 0n, 0n];
    for (let at = 0; at < values.length; at++) {
      const value = values[at]!;
      if (!Number.isFinite(value)) {
        if (first === none) first = start + at;
      } else if (value > best) {
        best = value;
        id = start + at;
        key = value < 0 ? 2 ** 32 - 1 - words[at]! : 2 ** 31 + (value === 0 ? 0 : words[at]!);
      }
      const place = BigInt(start + at);
      const word = BigInt(words[at]!);
      a = wrap(a + mix(wrap(word + (place + 1n) * 0x9e3779b1n)));
      b = wrap(b + mix(word ^ mix(wrap(place + 0x27d4eb2fn))));
    }
    parts.set([key, id, first, Number(a), Number(b)], (start / span) * 5);
  }
  return parts;
}

function wrap(value: bigint): bigint {
  return value & 0xffffffffn;
}

function mix(word: bigint): bigint {
  let h = word;
  h = wrap((h ^ (h >> 16n)) * 0x85ebca6bn);
  h = wrap((h ^ (h >> 13n)) * 0xc2b2ae35n);
  return h ^ (h >> 16n);
}
