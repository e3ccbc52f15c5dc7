/** How many pairs would show an effect of the size seen, given how far the pairs spread. */
import { hodgesLehmann } from './hodges-lehmann.ts';
import { pairsToReach } from './sign-flip.ts';
import { median } from './statistics.ts';

/** One-sided p that the pairs are to reach, ... */
export const NEEDED_P = 0.05;
/** ... with this probability. Normal quantiles of 0.95 and 0.80. */
const Z_SUM = 1.6448536269514722 + 0.8416212335729143;
/** What a rank test needs over a t-test for normal gains: π/3. */
const RANK_COST = Math.PI / 3;

/**
 * Pairs in all that give 80 % odds of a one-sided p ≤ 0.05 against "the gain is at most `thresholdPercent`" (or at least, where the
 * estimate lies below), if gains go on as these: ((z₀.₉₅ + z₀.₈₀) · σ / |estimate − threshold|)² · π/3, at least the five whose least p is
 * below 0.05. σ is 1.4826 times the median absolute deviation, so that a leg of another mode does not ask for hundreds of pairs; the
 * standard deviation where more than half of the gains are equal.
 * @returns null when the estimate is the threshold itself, or no gain is given: no number of pairs is enough.
 */
export function pairsNeeded(gains: readonly number[], thresholdPercent = 0): number | null {
  if (gains.length === 0) return null;
  const distance = Math.abs(hodgesLehmann(gains).estimate - thresholdPercent);
  if (distance === 0) return null;
  return Math.max(pairsToReach(NEEDED_P), Math.ceil(((Z_SUM * spread(gains)) / distance) ** 2 * RANK_COST));
}

function spread(gains: readonly number[]): number {
  const middle = median(gains);
  const deviation = 1.4826 * median(gains.map((gain) => Math.abs(gain - middle)));
  if (deviation > 0 || gains.length < 2) return deviation;
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  return Math.sqrt(gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0) / (gains.length - 1));
}
