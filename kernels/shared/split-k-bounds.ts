/** Bounds and replay of shared/split-k.wgsl, for the contracts of the kernels that include it. */
import { f32FromBits } from './float-bits.ts';

/**
 * Roundings that a term q·x or x can meet with any order of additions: the product with q, 31 additions in its slice of 32, the
 * product with scale or bias, and the k/16 summands that the k/32 slices make, k/16 − 1 additions.
 */
export function splitSpecRoundings(k: number): number {
  return k / 16 + 32;
}

/**
 * The same in the shader's own order. The longest way is that of Σ q·x: 8 sums of products at a place, three of Horner's rule, the product
 * with scale, two additions for each of the lane's ceil(k / 1024) slices but one in its own, two of four lanes and seven of eight fours.
 * That of Σ x is one step shorter: 9 additions of 32 elements, and both in its own slice.
 */
export function splitDepthRoundings(k: number): number {
  return 20 + 2 * Math.ceil(k / 1024);
}

/** A 4-bit table as qmm-q4 binds it. */
export interface CodesTable {
  readonly codes: Uint32Array;
  readonly scales: Uint32Array;
  readonly biases: Uint32Array;
}

const TEAM = 32;

/**
 * x · row `column` of the table in the shader's order, with the result of every addition passed through `round`.
 * @param x k elements from `start` on.
 */
export function replaySplit(x: ArrayLike<number>, start: number, k: number, table: CodesTable, column: number, round: (value: number) => number): number {
  const lanes = new Float64Array(TEAM);
  for (let slice = 0; slice < k / 32; slice++) {
    const lane = slice % TEAM;
    const group = column * (k / 64) + (slice >> 1);
    const { dot, sum } = replaySlice(x, start + slice * 32, table.codes, (column * k) / 8 + slice * 4, round);
    const biased = round(lanes[lane]! + bf16At(table.biases, group) * sum);
    lanes[lane] = round(biased + bf16At(table.scales, group) * dot);
  }
  let total = 0;
  for (let four = 0; four < TEAM; four += 4) {
    const sum = round(round(lanes[four]! + lanes[four + 1]!) + round(lanes[four + 2]! + lanes[four + 3]!));
    total = four === 0 ? sum : round(total + sum);
  }
  return total;
}

/** Σ q·x and Σ x of one slice. Place j of a half word holds q·16^j, as in the shader. */
function replaySlice(
  x: ArrayLike<number>,
  start: number,
  codes: Uint32Array,
  words: number,
  round: (value: number) => number,
): { readonly dot: number; readonly sum: number } {
  const place = new Float64Array(4);
  const total = new Float64Array(4);
  for (let j = 0; j < 4; j++) {
    for (let half = 0; half < 8; half++) {
      const q = (codes[words + (half >> 1)]! >>> (16 * (half % 2) + 4 * j)) & 15;
      const value = x[start + half * 4 + j]!;
      place[j] = round(place[j]! + q * 16 ** j * value);
      total[j] = half === 0 ? value : round(total[j]! + value);
    }
  }
  let dot = place[3]!;
  for (const j of [2, 1, 0]) dot = round(dot / 16 + place[j]!);
  return { dot, sum: round(round(total[0]! + total[1]!) + round(total[2]! + total[3]!)) };
}

function bf16At(pairs: Uint32Array, index: number): number {
  return f32FromBits((pairs[index >> 1]! << (16 * (1 - (index & 1)))) & 0xffff0000);
}
