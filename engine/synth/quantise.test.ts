import { describe, expect, it } from 'vitest';
import { quantise, toBf16, type QuantisedRows } from './quantise.ts';

function quantised(weights: number[]): QuantisedRows & { code(i: number): number } {
  const rows = {
    codes: new Uint32Array(weights.length / 8),
    scales: new Uint16Array(weights.length / 64),
    biases: new Uint16Array(weights.length / 64),
  };
  quantise(Float32Array.from(weights), rows);
  return { ...rows, code: (i) => (rows.codes[Math.floor(i / 8)]! >>> (4 * (i % 8))) & 15 };
}

const repeated = (values: readonly number[]): number[] => Array.from({ length: 64 }, (_, i) => values[i % values.length]!);

describe('quantise', () => {
  it('makes the farther low end the bias, with a positive scale', () => {
    const rows = quantised(repeated(Array.from({ length: 16 }, (_, i) => i - 8)));
    expect([rows.scales[0], rows.biases[0]]).toEqual([0x3f80, 0xc100]); // 1, −8
    expect(Array.from({ length: 16 }, (_, i) => rows.code(i))).toEqual(Array.from({ length: 16 }, (_, i) => i));
    expect(rows.codes[0]).toBe(0x76543210);
  });

  it('makes the farther high end the bias, with a negative scale', () => {
    const rows = quantised(repeated(Array.from({ length: 16 }, (_, i) => i - 7)));
    expect([rows.scales[0], rows.biases[0]]).toEqual([0xbf80, 0x4100]); // −1, 8
    expect(Array.from({ length: 16 }, (_, i) => rows.code(i))).toEqual(Array.from({ length: 16 }, (_, i) => 15 - i));
  });

  it('rounds halves to even', () => {
    const rows = quantised(repeated([-8, 7, -5.5, -4.5])); // codes 2.5 and 3.5 under scale 1, bias −8
    expect([rows.code(2), rows.code(3)]).toEqual([2, 4]);
  });

  it('keeps the groups of a row apart, and zeros exact', () => {
    const rows = quantised([...repeated([0]), ...repeated([-16, 14])]);
    expect([rows.biases[0], rows.code(0), rows.code(63)]).toEqual([0, 0, 0]);
    expect([rows.scales[1], rows.biases[1], rows.code(64), rows.code(65)]).toEqual([0x4000, 0xc180, 0, 15]); // 2, −16
  });
});

describe('toBf16', () => {
  it('rounds to nearest, ties to even', () => {
    expect([1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, -1 - 2 ** -7].map(toBf16)).toEqual([0x3f80, 0x3f80, 0x3f82, 0xbf81]);
  });
});
