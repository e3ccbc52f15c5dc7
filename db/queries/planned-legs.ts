import { asc, eq, inArray } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { plannedLegs } from '../schema.ts';

export type PlannedLegRow = typeof plannedLegs.$inferSelect;

export function addPlannedLegs(queries: Queries, rows: PlannedLegRow[]): void {
  // SQLite binds at most 32,766 values a statement; a row has seven.
  for (let start = 0; start < rows.length; start += 1000)
    queries
      .insert(plannedLegs)
      .values(rows.slice(start, start + 1000))
      .run();
}

/** A job's legs in the sealed order. */
export function listPlannedLegs(queries: Queries, job: string): PlannedLegRow[] {
  return queries.select().from(plannedLegs).where(eq(plannedLegs.job, job)).orderBy(asc(plannedLegs.position)).all();
}

/** How many legs each of these jobs has. */
export function countPlannedLegs(queries: Queries, jobs: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  if (jobs.length === 0) return counts;
  for (const { job } of queries.select({ job: plannedLegs.job }).from(plannedLegs).where(inArray(plannedLegs.job, jobs)).all())
    counts.set(job, (counts.get(job) ?? 0) + 1);
  return counts;
}
