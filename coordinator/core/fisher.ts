/** Fisher's exact test of a 2 × 2 table, and the exact interval of a share (both from log factorials). */

/** How many of an arm's legs showed something, such as another mode. */
export interface Share {
  readonly hits: number;
  readonly of: number;
}

/** Tables of one total are equally extreme when their probabilities differ by no more than this, relatively (as R and SciPy do). */
const TIE = 1e-7;

/**
 * Exact p that two arms share one rate, all margins fixed.
 * @returns `greater`: `a`'s rate is the higher; `less`: the lower; `twoSided`: tables no more probable than this one.
 * @throws RangeError for counts that are no counts.
 */
export function fisherExact(a: Share, b: Share): { greater: number; less: number; twoSided: number } {
  for (const { hits, of } of [a, b])
    if (!Number.isInteger(hits) || !Number.isInteger(of) || hits < 0 || hits > of) throw new RangeError(`${hits} of ${of} is no count`);
  const hits = a.hits + b.hits;
  const least = Math.max(0, hits - b.of);
  const most = Math.min(hits, a.of);
  const probability = (k: number): number => Math.exp(logChoose(a.of, k) + logChoose(b.of, hits - k) - logChoose(a.of + b.of, hits));
  const here = probability(a.hits);
  let [greater, less, twoSided] = [0, 0, 0];
  for (let k = least; k <= most; k++) {
    const p = probability(k);
    if (k >= a.hits) greater += p;
    if (k <= a.hits) less += p;
    if (p <= here * (1 + TIE)) twoSided += p;
  }
  return { greater: Math.min(1, greater), less: Math.min(1, less), twoSided: Math.min(1, twoSided) };
}

/** Probability of exactly `hits` of `of` at this rate. */
export function binomial(hits: number, of: number, rate: number): number {
  if (rate <= 0) return hits === 0 ? 1 : 0;
  if (rate >= 1) return hits === of ? 1 : 0;
  return Math.exp(logChoose(of, hits) + hits * Math.log(rate) + (of - hits) * Math.log1p(-rate));
}

/**
 * Exact (Clopper–Pearson) interval of the rate behind a share; it covers with at least `confidence`.
 * @returns low and high, from 0 to 1.
 */
export function rateInterval({ hits, of }: Share, confidence = 0.95): { low: number; high: number } {
  const tail = (1 - confidence) / 2;
  const upper = (rate: number): number => sum(hits, of, (k) => binomial(k, of, rate));
  const lower = (rate: number): number => sum(0, hits, (k) => binomial(k, of, rate));
  return {
    low: hits === 0 ? 0 : crossing((rate) => upper(rate) < tail),
    high: hits === of ? 1 : crossing((rate) => lower(rate) > tail),
  };
}

function sum(from: number, to: number, term: (k: number) => number): number {
  let total = 0;
  for (let k = from; k <= to; k++) total += term(k);
  return total;
}

/** The rate in (0, 1) up to which `holds` is true, by bisection. */
function crossing(holds: (rate: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const logFactorials = [0];

function logChoose(n: number, k: number): number {
  for (let i = logFactorials.length; i <= n; i++) logFactorials.push(logFactorials[i - 1]! + Math.log(i));
  return logFactorials[n]! - logFactorials[k]! - logFactorials[n - k]!;
}
