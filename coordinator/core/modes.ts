/** Legs that ran in another mode: seen, counted by arm, pooled across runs, and how many more legs would tell the arms apart. */
import { binomial, fisherExact, type Share } from './fisher.ts';
import { median } from './statistics.ts';

/** Beyond this multiple of its arm's median a leg ran in another mode (seeds: 1 leg in 16 at ~1.8×). */
export const OTHER_MODE = 1.5;

/**
 * A mode nearer by is seen where an arm has legs enough to tell its spread: beyond 1.2 times the median and 3.5 robust standard
 * deviations (1.4826 times the median absolute deviation) above it (the cut of Iglewicz and Hoaglin, 1993). On a device that repeats
 * itself within 1 %, a leg 40 % slower is no noise.
 */
const NEAR_MODE = { least: 6, times: 1.2, deviations: 3.5 * 1.4826 } as const;

/** Each leg's time over its arm's median, where the leg ran in another mode; null elsewhere. */
export function otherModes(times: readonly number[]): (number | null)[] {
  if (times.length === 0) return [];
  const middle = median(times);
  const deviation = median(times.map((time) => Math.abs(time - middle)));
  const near = times.length < NEAR_MODE.least ? Infinity : Math.max(NEAR_MODE.times * middle, middle + NEAR_MODE.deviations * deviation);
  const beyond = Math.min(OTHER_MODE * middle, near);
  return times.map((time) => (time > beyond ? time / middle : null));
}

/** Legs of another mode of both arms: one run's, or several runs' together. */
export interface ModeCounts {
  readonly baseline: Share;
  readonly candidate: Share;
}

/** Counts of one case's legs. @param baseline times of one arm; `candidate` of the other. */
export function countModes(baseline: readonly number[], candidate: readonly number[]): ModeCounts {
  const share = (times: readonly number[]): Share => ({ hits: otherModes(times).filter((mode) => mode !== null).length, of: times.length });
  return { baseline: share(baseline), candidate: share(candidate) };
}

/** Counts of several runs of the same arms, case and device, added up: modes are found within each run, by its own medians. */
export function poolModes(runs: readonly ModeCounts[]): ModeCounts {
  const add = (shares: readonly Share[]): Share => ({
    hits: shares.reduce((total, share) => total + share.hits, 0),
    of: shares.reduce((total, share) => total + share.of, 0),
  });
  return { baseline: add(runs.map((run) => run.baseline)), candidate: add(runs.map((run) => run.candidate)) };
}

/** What `moreLegs` plans for: Fisher's two-sided p at most this, ... */
const ALPHA = 0.05;
/** ... with at least this probability. */
const POWER = 0.8;
/** More legs an arm than this are not looked for. */
const MOST = 300;

/**
 * How many more legs (both arms together, half each) give 80 % odds that Fisher's two-sided p falls to 0.05, if the rates seen so
 * far are the true ones.
 * @returns 0 when p is there already; null when no rate differs, or more than 600 legs would be needed.
 */
export function moreLegs({ baseline, candidate }: ModeCounts): number | null {
  if (baseline.of === 0 || candidate.of === 0) return null;
  if (fisherExact(baseline, candidate).twoSided <= ALPHA) return 0;
  const rates = [baseline.hits / baseline.of, candidate.hits / candidate.of] as const;
  if (rates[0] === rates[1]) return null;
  const enough = (legs: number): boolean => powerOf(baseline, candidate, rates, legs) >= POWER;
  if (!enough(MOST)) return null;
  let [low, high] = [0, MOST];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return 2 * high;
}

/** Probability that `legs` more legs of each arm bring the two-sided p to 0.05. */
function powerOf(baseline: Share, candidate: Share, rates: readonly [number, number], legs: number): number {
  let power = 0;
  for (let x = 0; x <= legs; x++) {
    const px = binomial(x, legs, rates[0]);
    if (px < 1e-6) continue;
    for (let y = 0; y <= legs; y++) {
      const py = binomial(y, legs, rates[1]);
      if (px * py < 1e-7) continue;
      const p = fisherExact({ hits: baseline.hits + x, of: baseline.of + legs }, { hits: candidate.hits + y, of: candidate.of + legs }).twoSided;
      if (p <= ALPHA) power += px * py;
    }
  }
  return power;
}
