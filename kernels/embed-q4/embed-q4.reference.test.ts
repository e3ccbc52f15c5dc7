import { expect, test } from 'vitest';
import { embedQ4Reference } from './embed-q4.reference.ts';

test('row 1 of a table of two, and a zero row for an id past it', () => {
  const codes = new Uint32Array(16);
  codes[8] = 0x000000a1; // row 1: element 0 is 1, element 1 is 10
  const scales = Uint32Array.of((0x4000 << 16) | 0x3f80); // row 0: 1, row 1: 2
  const biases = Uint32Array.of((0xbf80 << 16) | 0x0000); // row 0: 0, row 1: -1
  const out = embedQ4Reference({ rows: 2, k: 64, vocab: 2, first: 0 }, Uint32Array.of(1, 2), codes, scales, biases);
  expect([out[0], out[1], out[2]]).toEqual([1, 19, -1]);
  expect(out.slice(64)).toEqual(new Float64Array(64));
  const part = embedQ4Reference({ rows: 3, k: 64, vocab: 2, first: 5 }, Uint32Array.of(4, 6, 7), codes, scales, biases);
  expect([part[0], part[64], part[65], part[128]]).toEqual([0, 1, 19, 0]);
});
