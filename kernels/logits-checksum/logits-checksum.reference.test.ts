import { expect, test } from 'vitest';
import { logitsChecksumReference } from './logits-checksum.reference.ts';

/** MurmurHash3's finaliser on uint32, by Math.imul: another way to the same numbers. */
function mix(word: number): number {
  let h = word >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

test('one word by hand: mix(0x00000001) is 0x514e28b7, as MurmurHash3 publishes', () => {
  expect(mix(1)).toBe(0x514e28b7);
  // i = 0 and w = 1 - 0x9e3779b1 mod 2^32 put 1 into the first mix.
  const w = (1 - 0x9e3779b1) >>> 0;
  expect([...logitsChecksumReference(Uint32Array.of(w))]).toEqual([0x514e28b7, mix(w ^ mix(0x27d4eb2f))]);
});

test('one changed bit, two swapped words, one more zero: each changes the checksum', () => {
  const words = Uint32Array.from({ length: 300 }, (_, i) => Math.imul(i + 1, 2654435761) >>> 0);
  const whole = [...logitsChecksumReference(words)];
  for (let bit = 0; bit < 32; bit++) {
    const changed = words.slice();
    changed[137]! ^= 1 << bit;
    expect([...logitsChecksumReference(changed)]).not.toEqual(whole);
  }
  const swapped = words.slice();
  [swapped[3], swapped[259]] = [swapped[259]!, swapped[3]!];
  expect([...logitsChecksumReference(swapped)]).not.toEqual(whole);
  expect([...logitsChecksumReference(Uint32Array.of(...words, 0))]).not.toEqual(whole);
});
