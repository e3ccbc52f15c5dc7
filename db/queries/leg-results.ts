import { and, asc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { legResults } from '../schema.ts';

export type LegResultRow = typeof legResults.$inferSelect;

/** Adds a result unless its key (job, attempt, position) is taken. @returns whether it was added. */
export function addLegResult(queries: Queries, row: LegResultRow): boolean {
  return queries.insert(legResults).values(row).onConflictDoNothing().run().changes === 1;
}

export function findLegResult(queries: Queries, job: string, attempt: number, position: number): LegResultRow | undefined {
  return queries
    .select()
    .from(legResults)
    .where(and(eq(legResults.job, job), eq(legResults.attempt, attempt), eq(legResults.position, position)))
    .get();
}

/** What one attempt posted, in the sealed order. */
export function listLegResults(queries: Queries, job: string, attempt: number): LegResultRow[] {
  return queries
    .select()
    .from(legResults)
    .where(and(eq(legResults.job, job), eq(legResults.attempt, attempt)))
    .orderBy(asc(legResults.position))
    .all();
}
