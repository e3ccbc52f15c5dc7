/** Rows of 16-bit floats as `rows-to-halves` lays them out: eight elements are four words, element i at place (i % 4)·2 + ⌊i/4⌋. */
import { rowsToHalvesReference } from '../rows-to-halves/rows-to-halves.reference.ts';

/** The exponent word of a row that is not finite. */
export const NOT_FINITE = 32_767;

/** Packs values that are halves, none of them subnormal, [rows, k] flat with k a multiple of 8. */
export function packHalves(values: Float64Array): Uint32Array {
  const words = new Uint32Array(values.length / 2);
  for (const [i, value] of values.entries()) {
    const place = (i % 4) * 2 + Math.floor((i % 8) / 4);
    words[Math.floor(i / 8) * 4 + (place >> 1)]! |= halfBits(value) << (16 * (place & 1));
  }
  return words;
}

function halfBits(value: number): number {
  if (value === 0) return 0;
  const bits = new Uint32Array(Float32Array.of(value).buffer)[0]!;
  return ((bits >>> 16) & 0x8000) | (((bits & 0x7fffffff) >>> 13) - (112 << 10));
}

/** What the products of a matrix unit read of x [rows, k]. */
export function halvesOf(
  shape: Readonly<{ rows: number; k: number; parts: number }>,
  x: Float32Array,
): { halves: Uint32Array; sums: Float32Array; exponents: Uint32Array } {
  const { halves, sums, exponents } = rowsToHalvesReference(shape, x);
  return { halves: packHalves(halves), sums: Float32Array.from(sums), exponents: exponentWords(exponents) };
}

/** Exponents as two's complement words, NaN as NOT_FINITE. */
export function exponentWords(exponents: Float64Array): Uint32Array {
  return Uint32Array.from(exponents, (e) => (Number.isNaN(e) ? NOT_FINITE : e >>> 0));
}
