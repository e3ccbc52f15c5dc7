/** Bounds and replay of shared/split-k.wgsl, for the contracts of the kernels that include it. */
import { gamma, U_NEAREST, U_SPEC } from './bounds.ts';
import { f32FromBits } from './float-bits.ts';

/**
 * Roundings that a term q·x or x can meet with any order of additions: the product with q, 31 additions in its slice of 32, the
 * product with scale or bias, and the k/16 summands that the k/32 slices make, k/16 − 1 additions. Family fixed has fewer in a slice.
 */
function specRoundings(k: number): number {
  return k / 16 + 32;
}

/**
 * The same in the shader's own order, after which two additions for each of the lane's ceil(k / 1024) slices, two of four lanes and seven of
 * eight fours follow. split-k: the longest way is that of Σ q·x: 8 sums of products at a place, three of Horner's rule, the product with
 * scale, and one addition less in its own slice; that of Σ x is one step shorter. fixed: that of Σ x, five additions and the product with bias;
 * Σ q·X is exact, and becomes a float, and a product with scale.
 */
function depthRoundings(family: string, k: number): number {
  return (family === 'fixed' ? 6 : 11) + 2 * Math.ceil(k / 1024) + 9;
}

/** What a product may be off by: `relative` of its terms Σ |scale|·q|x| + |bias|·|x|, and `peak` of its peaks Σ |scale|·Σ q·max |x|. */
export interface SplitError {
  readonly relative: number;
  readonly peak: number;
}

/**
 * Bounds of a product of k elements. Family fixed rounds x to a unit that is at most 2⁻²¹ of the largest of its slice: in any direction by a
 * unit, to nearest by half of one.
 */
export function splitErrors(family: string, k: number): { readonly spec: SplitError; readonly depth: SplitError } {
  const error = (relative: number, unit: number): SplitError => ({ relative, peak: family === 'fixed' ? unit * (1 + relative) : 0 });
  return { spec: error(gamma(specRoundings(k), U_SPEC), 2 ** -21), depth: error(gamma(depthRoundings(family, k), U_NEAREST), 2 ** -22) };
}

/** Values of family fixed: NaN where the row of x has an element that is not finite. */
export function fixedClasses(family: string, values: Float64Array, x: Float32Array): Float64Array {
  return family === 'fixed' && !x.every(Number.isFinite) ? values.map(() => NaN) : values;
}

/** A 4-bit table as qmm-q4 binds it. */
export interface CodesTable {
  readonly codes: Uint32Array;
  readonly scales: Uint32Array;
  readonly biases: Uint32Array;
}

const TEAM = 32;

/** The row of x that a product takes: k elements from `start` on. */
export interface SplitRow {
  readonly x: ArrayLike<number>;
  readonly start: number;
  readonly k: number;
}

/** A row · row `column` of the table in a family's order, with the result of every addition passed through `round`. */
export function replaySplit(family: string, { x, start, k }: SplitRow, table: CodesTable, column: number, round: (value: number) => number): number {
  const replay = family === 'fixed' ? replayFixedSlice : replaySlice;
  const lanes = new Float64Array(TEAM);
  for (let slice = 0; slice < k / 32; slice++) {
    const lane = slice % TEAM;
    const group = column * (k / 64) + (slice >> 1);
    const { dot, sum } = replay(x, start + slice * 32, table.codes, (column * k) / 8 + slice * 4, round);
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

/** The same of family fixed: Σ q·x exact, but for what the unit takes; Σ x by eights, whose columns of four are added in pairs. */
function replayFixedSlice(
  x: ArrayLike<number>,
  start: number,
  codes: Uint32Array,
  words: number,
  round: (value: number) => number,
): { readonly dot: number; readonly sum: number } {
  let dot = 0;
  for (let i = 0; i < 32; i++) dot += ((codes[words + (i >> 3)]! >>> (4 * (i % 8))) & 15) * x[start + i]!;
  const eight = (word: number): number => {
    const column = (j: number): number => round(x[start + word * 8 + j]! + x[start + word * 8 + 4 + j]!);
    return round(round(column(0) + column(1)) + round(column(2) + column(3)));
  };
  return { dot: round(dot), sum: round(round(eight(0) + eight(1)) + round(eight(2) + eight(3))) };
}

function bf16At(pairs: Uint32Array, index: number): number {
  return f32FromBits((pairs[index >> 1]! << (16 * (1 - (index & 1)))) & 0xffff0000);
}
