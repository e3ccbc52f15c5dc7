import { and, asc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { arms, heads, jobs, verdicts } from '../schema.ts';

export type VerdictRow = typeof verdicts.$inferSelect;

export function addVerdicts(queries: Queries, rows: VerdictRow[]): void {
  if (rows.length > 0) queries.insert(verdicts).values(rows).run();
}

/** A job's verdicts, one a candidate arm, in the arms' order. */
export function listVerdicts(queries: Queries, job: string): VerdictRow[] {
  return queries.select().from(verdicts).where(eq(verdicts.job, job)).orderBy(asc(verdicts.arm)).all();
}

/** Every verdict of a suite on a device whose candidate has this tree, over all runs, oldest first. */
export function listVerdictsOf(queries: Queries, device: string, suite: string, tree: string): { run: string; arm: number; verdict: VerdictRow['verdict'] }[] {
  return queries
    .select({ run: jobs.run, arm: verdicts.arm, verdict: verdicts.verdict })
    .from(verdicts)
    .innerJoin(jobs, eq(jobs.id, verdicts.job))
    .innerJoin(arms, and(eq(arms.run, jobs.run), eq(arms.position, verdicts.arm)))
    .innerJoin(heads, eq(heads.sha, arms.head))
    .where(and(eq(jobs.device, device), eq(jobs.suite, suite), eq(heads.tree, tree)))
    .orderBy(asc(verdicts.computedAt))
    .all();
}
