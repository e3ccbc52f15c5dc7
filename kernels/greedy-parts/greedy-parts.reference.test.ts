import { expect, test } from 'vitest';
import { greedyPartsReference } from './greedy-parts.reference.ts';

const bits = (...values: number[]): Uint32Array => new Uint32Array(Float32Array.from(values).buffer);
const NONE = 0xffffffff;

/** Key, index and first not finite of one span. */
const found = (row: Uint32Array, span = 0): number[] => Array.from(greedyPartsReference(row).subarray(span * 5, span * 5 + 3));

test('the lowest index of the largest, and a key that rises with the value', () => {
  // 5 is 0x40a00000; −2 is 0xc0000000, and 2³² − 1 − that is 0x3fffffff.
  expect(found(bits(-3, 2, 5, 5, -7))).toEqual([0xc0a00000, 2, NONE]);
  expect(found(bits(-3, -2, -5))).toEqual([0x3fffffff, 1, NONE]);
});

test('-0 equals +0: the lower index wins, with the key of +0', () => {
  expect(found(bits(-1, -0, 0))).toEqual([0x80000000, 1, NONE]);
});

test('names the first logit that is not finite; a span without a finite one has key 0', () => {
  expect(found(bits(1, NaN, 3, Infinity))).toEqual([0xc0400000, 2, 1]);
  expect(found(bits(-Infinity, NaN))).toEqual([0, NONE, 0]);
});

test('spans are of 1,024 and keep the indices of the whole row', () => {
  const row = new Float32Array(2049).fill(-1);
  row[1023] = 8;
  row[1025] = 4;
  row[1030] = Infinity;
  const words = new Uint32Array(row.buffer);
  expect(greedyPartsReference(words)).toHaveLength(15);
  expect(found(words, 0)).toEqual([0xc1000000, 1023, NONE]);
  expect(found(words, 1)).toEqual([0xc0800000, 1025, 1030]);
  expect(found(words, 2)).toEqual([0x407fffff, 2048, NONE]);
});

test('checksums: mix(1) is 0x514e28b7, as MurmurHash3 publishes, and the place is that of the whole row', () => {
  // w + (i + 1)·0x9e3779b1 is 1 mod 2³² for i = 0 of the first span and i = 1,024, all of the second.
  const words = new Uint32Array(1025);
  words[0] = (1 - 0x9e3779b1) >>> 0;
  words[1024] = (1 - Math.imul(1025, 0x9e3779b1)) >>> 0;
  expect(greedyPartsReference(words.slice(0, 1))[3]).toBe(0x514e28b7);
  expect(greedyPartsReference(words)[8]).toBe(0x514e28b7);
  const mix = (word: number): number => {
    let h = word >>> 0;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return (h ^ (h >>> 16)) >>> 0;
  };
  expect(greedyPartsReference(words)[9]).toBe(mix(words[1024] ^ mix(1024 + 0x27d4eb2f)));
});
