/** Fills for 4-bit tables: codes u32 [elements/8], scales and biases as bf16 pairs, one of each a group of 64 elements. */
import type { Random } from '../random.ts';
import { bf16Bits, packPairs } from './float-bits.ts';

export interface Q4Table {
  readonly codes: Uint32Array;
  readonly scales: Uint32Array;
  readonly biases: Uint32Array;
}

/** @param elements weights in the table, a multiple of 64; `scale` and `bias` draw one value a group. */
export function q4Table(random: Random, elements: number, scale: () => number, bias: () => number): Q4Table {
  const codes = new Uint32Array(elements / 8);
  random.words(codes);
  const groups = elements / 64;
  return {
    codes,
    scales: packPairs(Uint16Array.from({ length: groups }, () => bf16Bits(scale()))),
    biases: packPairs(Uint16Array.from({ length: groups }, () => bf16Bits(bias()))),
  };
}

/** Scales and biases of either sign over five and six decades. */
export function spreadTable(random: Random, elements: number): Q4Table {
  return q4Table(
    random,
    elements,
    () => random.decades(1e-6, 1e-1),
    () => random.decades(1e-5, 10),
  );
}

/** Weights that are multiples of 1/16 within ±5.75: neighbouring groups differ in scale, so that a wrong group shows. */
export function exactTable(random: Random, elements: number): Q4Table {
  return q4Table(
    random,
    elements,
    () => random.pick([1 / 16, 1 / 8, 1 / 4, -1 / 16, -1 / 8, -1 / 4]),
    () => random.integer(-32, 32) / 16,
  );
}

/** Positive weights in [1, 5.75]: sums only grow. */
export function positiveTable(random: Random, elements: number): Q4Table {
  return q4Table(
    random,
    elements,
    () => random.uniform(1 / 16, 1 / 4),
    () => random.uniform(1, 2),
  );
}

/**
 * Writes a class of values into one row of x: 0 a NaN, 1 and 2 an infinity of either sign, 3 one of each, 4 zeros of both signs,
 * 5 subnormals.
 */
export function plantClass(kind: number, row: Float32Array, random: Random): void {
  const at = random.integer(0, row.length - 1);
  if (kind === 0) row[at] = NaN;
  if (kind === 1) row[at] = Infinity;
  if (kind === 2) row[at] = -Infinity;
  if (kind === 3) {
    row[at] = Infinity;
    row[(at + 1) % row.length] = -Infinity;
  }
  if (kind === 4) for (let i = 0; i < row.length; i++) row[i] = i % 2 === 0 ? 0 : -0;
  if (kind === 5) for (let i = 0; i < row.length; i++) row[i] = random.decades(1e-44, 1e-39);
}
