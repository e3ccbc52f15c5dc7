/** Which arm is compared with which. */

/** Positions in the run's arms. */
export interface Comparison {
  readonly baseline: number;
  readonly candidate: number;
}

/**
 * The comparisons of a run, in the order of their verdicts. Every arm against the first; in a stack every arm against the one below it, and
 * then the whole (the last arm) against the first, all in one series of legs.
 */
export function comparisonsOf(arms: number, stack: boolean): Comparison[] {
  const candidates = Array.from({ length: arms - 1 }, (_, i) => i + 1);
  if (!stack) return candidates.map((candidate) => ({ baseline: 0, candidate }));
  const steps = candidates.map((candidate) => ({ baseline: candidate - 1, candidate }));
  return arms > 2 ? [...steps, { baseline: 0, candidate: arms - 1 }] : steps;
}

/** How many of a run's arms are compared: a merge base that is an arm of its own, the last, only says what failed before. */
export const comparedCount = (arms: number, mergeBase: number | undefined): number => (mergeBase === undefined || mergeBase === 0 ? arms : arms - 1);

/** What a verdict calls the comparison: the candidate as written, and in a stack what it is compared with. */
export function comparisonLabel({ baseline, candidate }: Comparison, labels: readonly string[], stack: boolean): string {
  return stack ? `${labels[candidate]} against ${labels[baseline]}` : labels[candidate]!;
}
