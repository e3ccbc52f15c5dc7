/**
 * Paired statistics. The unit is the pair (two fresh processes next to each other in the order), never the single leg:
 * what both legs of a pair share (heat, other load, memory) cancels.
 */

/** Median; the mean of the middle two for an even count. @throws RangeError for an empty list. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('the median of nothing is not defined');
  const sorted = [...values].toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Gain of each pair, (baseline − candidate)/baseline in percent: positive is faster.
 * @param baseline times of the baseline legs, any unit; `candidate[i]` is the other leg of pair i, in the same unit.
 * @throws RangeError when the lengths differ, are zero, or a time is not positive.
 */
export function pairedGains(baseline: readonly number[], candidate: readonly number[]): { gainPercent: number[]; medianPercent: number } {
  if (baseline.length !== candidate.length) throw new RangeError(`${baseline.length} baseline times against ${candidate.length} candidate times are no pairs`);
  const gainPercent = baseline.map((base, i) => {
    const other = candidate[i]!;
    if (!(base > 0) || !(other > 0)) throw new RangeError(`pair ${i + 1} has a time that is not positive: ${base}, ${other}`);
    return ((base - other) / base) * 100;
  });
  return { gainPercent, medianPercent: median(gainPercent) };
}

/** Up to this many pairs all 2^n sign patterns are counted; beyond, the statistic is the signed-rank sum (see `signFlipP`). */
const ENUMERATE_PAIRS = 20;

/**
 * Exact one-sided p of "the gain is not positive" by sign flips: the share of the 2^n sign patterns, equally likely when the
 * labels of each pair are exchangeable, whose statistic is at least the one observed. The statistic is the sum of gains up to
 * 20 pairs, and beyond that the sum of the positive gains' ranks (Wilcoxon), whose 2^n patterns can still be counted exactly.
 * @returns 1 for no pairs.
 */
export function signFlipP(gains: readonly number[]): number {
  if (gains.length === 0) return 1;
  return gains.length <= ENUMERATE_PAIRS ? enumeratedP(gains) : signedRankP(gains);
}

function enumeratedP(gains: readonly number[]): number {
  const sizes = gains.map(Math.abs);
  const observed = gains.reduce((sum, gain) => sum + gain, 0);
  // Patterns that reach the same sum in another order of addition must count as ties.
  const tolerance = 1e-12 * sizes.reduce((sum, size) => sum + size, 0);
  let reached = 0;
  const walk = (at: number, sum: number): void => {
    if (at === sizes.length) {
      if (sum >= observed - tolerance) reached++;
      return;
    }
    walk(at + 1, sum + sizes[at]!);
    walk(at + 1, sum - sizes[at]!);
  };
  walk(0, 0);
  return reached / 2 ** gains.length;
}

function signedRankP(gains: readonly number[]): number {
  const ranks = doubledRanks(gains.map(Math.abs));
  const observed = gains.reduce((sum, gain, i) => (gain > 0 ? sum + ranks[i]! : sum), 0);
  const share = sumDistribution(ranks);
  let p = 0;
  for (let sum = observed; sum < share.length; sum++) p += share[sum]!;
  return Math.min(1, p);
}

/** Twice the mid-ranks, so that ties stay integers. */
function doubledRanks(values: readonly number[]): number[] {
  const order = values.map((value, i) => ({ value, i })).toSorted((a, b) => a.value - b.value);
  const ranks = Array.from({ length: values.length }, () => 0);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to + 1 < order.length && order[to + 1]!.value === order[from]!.value) to++;
    for (let k = from; k <= to; k++) ranks[order[k]!.i] = from + to + 2;
    from = to + 1;
  }
  return ranks;
}

/** Probability of each sum of a random half of `weights` (each in or out with probability ½). */
function sumDistribution(weights: readonly number[]): Float64Array {
  const share = new Float64Array(weights.reduce((sum, weight) => sum + weight, 0) + 1);
  share[0] = 1;
  let top = 0;
  for (const weight of weights) {
    for (let sum = top; sum >= 0; sum--) {
      const half = share[sum]! / 2;
      share[sum] = half;
      share[sum + weight] = share[sum + weight]! + half;
    }
    top += weight;
  }
  return share;
}

/** The least p that n pairs can reach: every pair positive. @returns 1 / 2^n. */
export function smallestP(pairs: number): number {
  return 2 ** -pairs;
}

/** The fewest pairs whose smallest p is at most `p`. */
export function pairsToReach(p: number): number {
  return Math.ceil(-Math.log2(p) - 1e-12);
}

/** Least coverage of `hodgesLehmann`'s interval; six pairs are the fewest that reach it. */
export const INTERVAL_CONFIDENCE = 0.95;

/**
 * Hodges–Lehmann estimate of the gain (median of the n(n+1)/2 Walsh averages) with the distribution-free interval that
 * inverts the signed-rank test: the narrowest whose exact coverage is at least 95 %.
 * @returns `interval` null where this many values reach no such interval (fewer than six).
 */
export function hodgesLehmann(values: readonly number[]): { estimate: number; interval: { low: number; high: number; confidence: number } | null } {
  const averages: number[] = [];
  for (let i = 0; i < values.length; i++) for (let j = i; j < values.length; j++) averages.push((values[i]! + values[j]!) / 2);

  const walsh = averages.toSorted((a, b) => a - b);
  const estimate = median(walsh);
  const share = sumDistribution(values.map((_, i) => i + 1));
  // [walsh_k, walsh_{M+1−k}] covers with 1 − 2·P(W ≤ k−1); widest first, narrowed while the coverage allows.
  let below = 0;
  let interval: { low: number; high: number; confidence: number } | null = null;
  for (let k = 1; k <= walsh.length / 2; k++) {
    below += share[k - 1]!;
    const confidence = 1 - 2 * below;
    if (confidence < INTERVAL_CONFIDENCE) break;
    interval = { low: walsh[k - 1]!, high: walsh[walsh.length - k]!, confidence };
  }
  return { estimate, interval };
}

/** Beyond this multiple of its arm's median a leg ran in another mode (seeds: 1 leg in 16 at ~1.8×). */
export const OTHER_MODE = 1.5;

/** Each leg's time over its arm's median, where that is beyond `OTHER_MODE`; null elsewhere. */
export function otherModes(times: readonly number[]): (number | null)[] {
  if (times.length === 0) return [];
  const middle = median(times);
  return times.map((time) => (time > OTHER_MODE * middle ? time / middle : null));
}
