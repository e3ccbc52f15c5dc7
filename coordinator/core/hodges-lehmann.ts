/** The size of the effect: Hodges–Lehmann estimate and the interval that inverts the exact signed-rank test. */
import { subsetSums } from './ranks.ts';
import { median } from './statistics.ts';

/** Least coverage of the interval; six pairs are the fewest that reach it. */
export const INTERVAL_CONFIDENCE = 0.95;

export interface Interval {
  readonly low: number;
  readonly high: number;
  /** Exact coverage for symmetric gains: at least 0.95. */
  readonly confidence: number;
}

/**
 * Hodges–Lehmann estimate of the gain (median of the n(n+1)/2 Walsh averages) with the distribution-free interval that
 * inverts the signed-rank test: the narrowest whose exact coverage is at least 95 %.
 * @returns `interval` null where this many values reach no such interval (fewer than six).
 * @throws RangeError for no values.
 */
export function hodgesLehmann(values: readonly number[]): { estimate: number; interval: Interval | null } {
  const walsh = walshAverages(values);
  const estimate = median(walsh);
  const share = subsetSums(values.map((_, i) => i + 1));
  // [walsh_k, walsh_{M+1−k}] covers with 1 − 2·P(W ≤ k−1); widest first, narrowed while the coverage allows.
  let below = 0;
  let interval: Interval | null = null;
  for (let k = 1; k <= walsh.length / 2; k++) {
    below += share[k - 1]!;
    const confidence = 1 - 2 * below;
    if (confidence < INTERVAL_CONFIDENCE) break;
    interval = { low: walsh[k - 1]!, high: walsh[walsh.length - k]!, confidence };
  }
  return { estimate, interval };
}

/** Averages of every two values, each with itself too, ascending. */
function walshAverages(values: readonly number[]): number[] {
  const averages = new Float64Array((values.length * (values.length + 1)) / 2);
  let at = 0;
  for (let i = 0; i < values.length; i++) for (let j = i; j < values.length; j++) averages[at++] = (values[i]! + values[j]!) / 2;
  return Array.from(averages.toSorted());
}
