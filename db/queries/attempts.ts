import { and, asc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { attempts } from '../schema.ts';

export type AttemptRow = typeof attempts.$inferSelect;

export function addAttempt(queries: Queries, row: AttemptRow): void {
  queries.insert(attempts).values(row).run();
}

export function findAttempt(queries: Queries, job: string, number: number): AttemptRow | undefined {
  return queries
    .select()
    .from(attempts)
    .where(and(eq(attempts.job, job), eq(attempts.number, number)))
    .get();
}

/** A job's attempts, oldest first. */
export function listAttempts(queries: Queries, job: string): AttemptRow[] {
  return queries.select().from(attempts).where(eq(attempts.job, job)).orderBy(asc(attempts.number)).all();
}

export function updateAttempt(queries: Queries, job: string, number: number, values: Partial<Pick<AttemptRow, 'state' | 'note'>>): void {
  queries
    .update(attempts)
    .set(values)
    .where(and(eq(attempts.job, job), eq(attempts.number, number)))
    .run();
}
