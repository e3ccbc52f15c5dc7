/**
 * Exact sign-flip (paired permutation) test. Where the labels of each pair are exchangeable, that is without an effect, each of
 * the 2^n sign patterns of the n gains is equally likely; p is the share of patterns whose statistic is at least as extreme.
 */
import { doubledRanks, subsetSums } from './ranks.ts';

/**
 * Up to this many pairs the statistic is the sum of gains, and the 2^n patterns are counted from two sorted halves. Beyond, it is
 * the sum of the positive gains' ranks (Wilcoxon; zeros ranked, then dropped, as Pratt), whose 2^n patterns can still be counted exactly.
 */
export const ENUMERATE_PAIRS = 30;

/** Which alternative a p is for: `greater`: the gain is positive. `two-sided`: it is not zero. */
export type Side = 'greater' | 'two-sided';

/**
 * Exact p of a sign-flip test.
 * @returns 1 for no pairs.
 */
export function signFlipP(gains: readonly number[], side: Side = 'greater'): number {
  if (gains.length === 0) return 1;
  return gains.length <= ENUMERATE_PAIRS ? sumP(gains, side) : rankP(gains, side);
}

function sumP(gains: readonly number[], side: Side): number {
  const sizes = gains.map(Math.abs);
  const observed = gains.reduce((sum, gain) => sum + gain, 0);
  // Patterns that reach the same sum in another order of addition must count as ties.
  const tolerance = 1e-12 * sizes.reduce((sum, size) => sum + size, 0);
  const least = (side === 'greater' ? observed : Math.abs(observed)) - tolerance;
  const middle = sizes.length >> 1;
  const share = countReaching(signedSums(sizes.slice(0, middle)), signedSums(sizes.slice(middle)), least) / 2 ** gains.length;
  // The patterns are symmetric about zero.
  return side === 'greater' ? share : Math.min(1, 2 * share);
}

/** All 2^n sums ±v₁ ± v₂ …, ascending: at every step two ascending lists are merged. */
function signedSums(sizes: readonly number[]): Float64Array {
  let sums = new Float64Array(1);
  for (const size of sizes) {
    const next = new Float64Array(2 * sums.length);
    let minus = 0;
    let plus = 0;
    for (let at = 0; at < next.length; at++) {
      const low = minus < sums.length ? sums[minus]! - size : Infinity;
      const high = sums[plus]! + size;
      if (low <= high) {
        next[at] = low;
        minus++;
      } else {
        next[at] = high;
        plus++;
      }
    }
    sums = next;
  }
  return sums;
}

/** How many pairs of one value of each ascending list sum to at least `least`. */
function countReaching(left: Float64Array, right: Float64Array, least: number): number {
  let count = 0;
  let from = right.length;
  for (const value of left) {
    while (from > 0 && value + right[from - 1]! >= least) from--;
    count += right.length - from;
  }
  return count;
}

function rankP(gains: readonly number[], side: Side): number {
  const ranks = doubledRanks(gains.map(Math.abs));
  const flipped = ranks.filter((_, i) => gains[i] !== 0);
  const total = flipped.reduce((sum, rank) => sum + rank, 0);
  const positive = gains.reduce((sum, gain, i) => (gain > 0 ? sum + ranks[i]! : sum), 0);
  const observed = side === 'greater' ? positive : Math.max(positive, total - positive);
  let p = 0;
  for (const [sum, share] of subsetSums(flipped).entries()) if (sum >= observed) p += share;
  return Math.min(1, side === 'greater' ? p : 2 * p);
}

/** The least p that n pairs can reach: every pair positive. @returns 1 / 2^n, twice that two-sided. */
export function smallestP(pairs: number, side: Side = 'greater'): number {
  return Math.min(1, 2 ** -pairs * (side === 'greater' ? 1 : 2));
}

/** The fewest pairs whose smallest one-sided p is at most `p`. */
export function pairsToReach(p: number): number {
  return Math.max(1, Math.ceil(-Math.log2(p) - 1e-12));
}
