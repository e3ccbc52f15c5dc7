/** Legs of another mode are rare: what one run cannot tell, all runs of the same trees, settings and device may. */
import { listArms, type ArmWithHead } from '../db/queries/arms.ts';
import { findRun, type RunRow } from '../db/queries/runs.ts';
import { listVerdictsOf } from '../db/queries/verdicts.ts';
import type { Queries } from '../db/open.ts';
import { canonicalJson } from './core/canonical.ts';
import { comparedCount } from './core/comparisons.ts';
import { fisherExact } from './core/fisher.ts';
import { countModes, moreLegs, poolModes, type ModeCounts } from './core/modes.ts';
import { readSeal } from './core/sealed.ts';
import type { PooledModes } from './protocol/run.ts';
import { brokenSeal } from './seal-check.ts';

/**
 * Pools the legs of every case that this run's verdicts time, over all runs that measured the same. Cases without any leg of another
 * mode are left out.
 * @param timed device, suite, candidate (index of the run's arms) and cases of the run's effects.
 */
export function pooledModesOf(
  queries: Queries,
  run: string,
  timed: readonly { device: string; suite: string; arm: number; cases: readonly string[] }[],
): PooledModes[] {
  const pool = new RunPool(queries);
  if (pool.isStack(run)) return [];
  return timed.flatMap(({ device, suite, arm, cases }) => {
    const same = listVerdictsOf(queries, device, suite, pool.tree(run, arm)).filter((other) => pool.measures(other.run, other.arm) === pool.measures(run, arm));
    return cases.flatMap((name): PooledModes[] => {
      const counts = same.flatMap((other) => pool.counts(other, name) ?? []);
      const { baseline, candidate } = poolModes(counts);
      if (baseline.hits + candidate.hits === 0) return [];
      const fisherP = fisherExact(baseline, candidate).twoSided;
      return [{ device, suite, arm, case: name, runs: counts.length, baseline, candidate, fisherP, moreLegs: moreLegs({ baseline, candidate }) }];
    });
  });
}

/** What is asked of many runs, once each. */
class RunPool {
  readonly #queries: Queries;
  readonly #arms = new Map<string, ArmWithHead[]>();
  /** Pairs that come before a run's own; null: the run is not what was sealed, and counts for nothing. */
  readonly #pairsBefore = new Map<string, number | null>();

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  tree(run: string, arm: number): string {
    return this.#armsOf(run)[arm]?.tree ?? '';
  }

  /** The two arms that a verdict compares, as a text: tree and settings of each. */
  measures(run: string, arm: number): string {
    const arms = this.#armsOf(run);
    if (this.isStack(run)) return `stack ${run} ${arm}`;
    return canonicalJson([arms[0], arms[arm]].map((item) => [item!.tree, item!.settings]));
  }

  /** Legs of one verdict's case that this very run measured: pairs that it was added to are counted where they were measured. */
  counts({ run, verdict }: ReturnType<typeof listVerdictsOf>[number], name: string): ModeCounts | null {
    const before = this.#before(run);
    const pairs = verdict.effects.find((effect) => effect.case === name)?.pairs.filter((pair) => before !== null && pair.pair > before) ?? [];
    if (pairs.length === 0) return null;
    return countModes(
      pairs.map((pair) => pair.baselineMs),
      pairs.map((pair) => pair.candidateMs),
    );
  }

  /** The verdicts of a stack are numbered by comparison, not by arm; its legs are not pooled. */
  isStack(run: string): boolean {
    const { sealText } = findRun(this.#queries, run)!;
    return sealText.includes('"stack":true') && readSeal(sealText).stack;
  }

  #armsOf(run: string): ArmWithHead[] {
    const arms = this.#arms.get(run) ?? listArms(this.#queries, run);
    this.#arms.set(run, arms);
    return arms;
  }

  #before(run: string): number | null {
    let before = this.#pairsBefore.get(run);
    if (before === undefined) {
      const row = findRun(this.#queries, run)!;
      before = brokenSeal(this.#queries, row) === null ? this.#pairsOfSeal(row) : null;
      this.#pairsBefore.set(run, before);
    }
    return before;
  }

  /** Pairs count on across the candidates of the run that was added to; an added merge base is in no pair. */
  #pairsOfSeal({ id, sealText }: RunRow): number {
    const { extends: added, mergeBase } = readSeal(sealText);
    return (added?.pairs ?? 0) * (comparedCount(this.#armsOf(id).length, mergeBase) - 1);
  }
}
