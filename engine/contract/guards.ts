/**
 * Guard words around a buffer's contents. The guard after the contents is part of the binding: a driver clamps a store past
 * the end of a binding onto its last element or drops it, and in either case a store past the contents must show.
 */

/** Bits that fill the guard words. */
const GUARD = 0x5ca1ab1e;

/** Words on each side. 256 bytes: the largest offset alignment of a storage binding that WebGPU allows. */
export const GUARD_WORDS = 64;

/** The contents with guards on both sides. */
export function withGuards(contents: Uint32Array): Uint32Array {
  const words = new Uint32Array(contents.length + 2 * GUARD_WORDS).fill(GUARD);
  words.set(contents, GUARD_WORDS);
  return words;
}

/** The contents between the guards, as a view. */
export function withoutGuards(words: Uint32Array): Uint32Array {
  return words.subarray(GUARD_WORDS, words.length - GUARD_WORDS);
}

/** Which guard word is broken; empty when all are whole. */
export function guardFault(binding: string, words: Uint32Array): string {
  for (let i = 0; i < GUARD_WORDS; i++) {
    if (words[i] !== GUARD) return `wrote ${GUARD_WORDS - i} words before "${binding}"`;
    if (words[words.length - GUARD_WORDS + i] !== GUARD) return `wrote ${i + 1} words past the end of "${binding}"`;
  }
  return '';
}
