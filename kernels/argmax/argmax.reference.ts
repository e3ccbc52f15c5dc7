/**
 * Greedy choice over float32 bits: [id, finite, first, 0]. `id` is the lowest index of the largest finite logit (−0 equals
 * +0) or 0xffffffff where none is finite; `finite` is 1 when every logit is finite; `first` is the first index that is
 * not, or 0xffffffff.
 */
export function argmaxReference(bits: Uint32Array): Uint32Array {
  const view = new Float32Array(bits.buffer, bits.byteOffset, bits.length);
  let id = 0xffffffff;
  let best = -Infinity;
  let first = 0xffffffff;
  for (let i = 0; i < view.length; i++) {
    const value = view[i]!;
    if (!Number.isFinite(value)) {
      if (first === 0xffffffff) first = i;
    } else if (value > best) {
      best = value;
      id = i;
    }
  }
  return Uint32Array.of(id, first === 0xffffffff ? 1 : 0, first, 0);
}
