/** The exit status of a run: that of its worst verdict. */
import { VERDICT_EXIT, type VerdictWord } from '../protocol/verdict.ts';

/** Worst first: something is wrong (1), nothing is known (3), all is well (0). */
const ORDER = [1, 3, 0] as const;

/**
 * The worst exit status of some verdicts. No verdict at all is 3: nothing was shown.
 */
export function worstExit(words: readonly VerdictWord[]): 0 | 1 | 3 {
  if (words.length === 0) return 3;
  const statuses = new Set(words.map((word) => VERDICT_EXIT[word]));
  return ORDER.find((status) => statuses.has(status)) ?? 3;
}
