import { desc, eq, like } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { runs } from '../schema.ts';

export type RunRow = typeof runs.$inferSelect;

export function addRun(queries: Queries, row: RunRow): void {
  queries.insert(runs).values(row).run();
}

export function findRun(queries: Queries, id: string): RunRow | undefined {
  return queries.select().from(runs).where(eq(runs.id, id)).get();
}

/** The run that was submitted with this key. */
export function findRunByKey(queries: Queries, key: string): RunRow | undefined {
  return queries.select().from(runs).where(eq(runs.key, key)).get();
}

/** Newest first. */
export function listRuns(queries: Queries, limit: number): RunRow[] {
  return queries.select().from(runs).orderBy(desc(runs.submittedAt), desc(runs.id)).limit(limit).all();
}

/** Runs that were sealed with a forecast, newest first. Within a JSON text a quote is escaped, so the pattern matches a member only. */
export function listForecastRuns(queries: Queries): RunRow[] {
  return queries.select().from(runs).where(like(runs.sealText, '%"forecast":{%')).orderBy(desc(runs.submittedAt), desc(runs.id)).all();
}
