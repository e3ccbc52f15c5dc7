/**
 * The sealed order of a job's legs. Order is decided once, before anything runs, and stored: a verdict over pairs means
 * nothing if the order could be chosen after a look at the times.
 *
 * The order is balanced in blocks of two pairs, and seeded: in each block one pair runs its baseline first and one its candidate,
 * and the seed says which. Under seed 0 it is always the baseline in the first pair of a block: old,new,new,old,old,new. Under any other
 * seed a block begins with the baseline where the first bit of SHA-256(`fleet order SEED CASE COMPARISON BLOCK`) is 0, so that an order
 * goes on where it ended whoever continues it, and no rhythm of the machine can keep step with every seed.
 */
import { sha256Hex } from './canonical.ts';
import { comparisonsOf, type Comparison } from './comparisons.ts';
import type { PlannedLeg } from '../protocol/run.ts';

export interface PlanInput {
  /** How many arms; arm 0 is the baseline. */
  readonly arms: number;
  /** The baseline's cases, in its manifest's order. */
  readonly cases: readonly string[];
  readonly timed: boolean;
  /** Pairs a case and candidate; used in timed suites only. */
  readonly pairs: number;
  /** Which arm is paired with which; default: every arm with arm 0. */
  readonly comparisons?: readonly Comparison[];
  /** Which arm of a block's first pair runs first; 0, the default, is the baseline always. */
  readonly seed?: number;
  /** What was planned before, where this goes on with it: legs in all, and pairs a case and candidate. */
  readonly after?: { readonly legs: number; readonly pairs: number };
}

/**
 * Plans the legs of one job.
 *
 * Timed: for each case and candidate, `pairs` pairs in the order old,new,new,old,old,new (seed 0), so that a drift along the series
 * does not favour either arm (notes: a fixed AB order read +23.5 % against itself). `pair` counts within the case, across candidates, so
 * (case, pair) names exactly two legs. `after` goes on where an earlier plan ended: legs, pairs and blocks count on, and after an odd
 * number of pairs the next completes its block.
 * Not timed: each case once an arm, arms in order, `pair` null.
 *
 * @returns the legs with `index` = place in the order, from 0 (or `after.legs`).
 * @throws RangeError when arms, cases or pairs are out of range.
 */
export function planLegs(input: PlanInput): PlannedLeg[] {
  const { arms, cases, timed, pairs, comparisons = comparisonsOf(input.arms, false), after = { legs: 0, pairs: 0 }, seed = 0 } = input;
  if (!Number.isInteger(arms) || arms < 2) throw new RangeError(`a run compares at least two arms, not ${arms}`);
  if (cases.length === 0) throw new RangeError('a suite without cases has no legs');
  if (timed && (!Number.isInteger(pairs) || pairs < 1)) throw new RangeError(`a timed suite needs at least one pair, not ${pairs}`);
  const legs: PlannedLeg[] = [];
  const add = (arm: number, name: string, pair: number | null): void => {
    legs.push({ index: after.legs + legs.length, arm, case: name, pair });
  };
  for (const name of cases) {
    if (!timed) {
      for (let arm = 0; arm < arms; arm++) add(arm, name, null);
      continue;
    }
    for (const [at, { baseline, candidate }] of comparisons.entries()) {
      for (let i = 1; i <= pairs; i++) {
        const pair = after.pairs * comparisons.length + at * pairs + i;
        const before = after.pairs + i - 1;
        const opens = beginsWithBaseline(seed, name, at + 1, before >> 1);
        const order = opens === (before % 2 === 0) ? [baseline, candidate] : [candidate, baseline];
        for (const arm of order) add(arm, name, pair);
      }
    }
  }
  return legs;
}

/** Whether the first pair of a block runs its baseline first. @param comparison from 1; `block` from 0. */
function beginsWithBaseline(seed: number, caseName: string, comparison: number, block: number): boolean {
  return seed === 0 || Number.parseInt(sha256Hex(`fleet order ${seed} ${caseName} ${comparison} ${block}`)[0]!, 16) < 8;
}
