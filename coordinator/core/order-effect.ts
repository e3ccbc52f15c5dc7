/** What the place within a pair costs: pairs that ran the baseline first against pairs that ran the candidate first. */
import { doubledRanks, fixedSizeSums } from './ranks.ts';
import { median } from './statistics.ts';

export interface OrderedGain {
  readonly gainPercent: number;
  readonly order: 'baseline-first' | 'candidate-first';
}

export interface OrderEffect {
  /** How much slower, in percent, a leg runs in second place than in first: half of what the order moves the gain by. */
  readonly secondSlowerPercent: number;
  /** Two-sided p of "the order does not matter", by the rank sum of one order's gains over all splits of that size; exact up to 100 pairs. */
  readonly p: number;
  readonly baselineFirst: number;
  readonly candidateFirst: number;
}

/**
 * Estimates the order effect. A leg that is slower by s % for running second lowers the gain of baseline-first pairs by s and raises
 * that of candidate-first pairs by s, so the shift between them (two-sample Hodges–Lehmann: the median of all differences) is 2 s.
 * @returns null where one of the orders has no pair.
 */
export function orderEffect(pairs: readonly OrderedGain[]): OrderEffect | null {
  const of = (order: OrderedGain['order']): number[] => pairs.filter((pair) => pair.order === order).map((pair) => pair.gainPercent);
  const [baselineFirst, candidateFirst] = [of('baseline-first'), of('candidate-first')];
  if (baselineFirst.length === 0 || candidateFirst.length === 0) return null;
  const differences = candidateFirst.flatMap((high) => baselineFirst.map((low) => high - low));
  return {
    secondSlowerPercent: median(differences) / 2,
    p: rankSumP(candidateFirst, baselineFirst),
    baselineFirst: baselineFirst.length,
    candidateFirst: candidateFirst.length,
  };
}

/** The exact distribution costs the fourth power of the pairs: beyond this many, the rank sum is taken as normal (p within 0.002). */
const EXACT_PAIRS = 100;

/** Share of the splits whose rank sum lies at least as far from its mean as this one's; ties get mid-ranks. */
function rankSumP(a: readonly number[], b: readonly number[]): number {
  const ranks = doubledRanks([...a, ...b]);
  // The mean rank sum of a split is |a|·(n+1)/2, doubled: an integer.
  const mean = a.length * (a.length + b.length + 1);
  const far = Math.abs(ranks.slice(0, a.length).reduce((sum, rank) => sum + rank, 0) - mean);
  if (ranks.length > EXACT_PAIRS) return normalP(ranks, a.length, far);
  let p = 0;
  for (const [sum, share] of fixedSizeSums(ranks, a.length).entries()) if (Math.abs(sum - mean) >= far) p += share;
  return Math.min(1, p);
}

/** The same for many pairs: the variance of the sum of `size` of the ranks, and twice the normal tail with a half-step correction. */
function normalP(ranks: readonly number[], size: number, far: number): number {
  const n = ranks.length;
  const mean = n + 1;
  const variance = (ranks.reduce((sum, rank) => sum + (rank - mean) ** 2, 0) / n) * ((size * (n - size)) / (n - 1));
  return variance === 0 ? 1 : Math.min(1, 2 * upperTail(Math.max(0, far - 1) / Math.sqrt(variance)));
}

/** P(Z > z) of a standard normal, z ≥ 0: Abramowitz and Stegun 26.2.17, within 7.5e-8. */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
