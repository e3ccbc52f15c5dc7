import { and, asc, desc, eq, isNotNull, isNull, notInArray, sql } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { jobs } from '../schema.ts';

export type JobRow = typeof jobs.$inferSelect;

export function addJobs(queries: Queries, rows: JobRow[]): void {
  queries.insert(jobs).values(rows).run();
}

export function findJob(queries: Queries, id: string): JobRow | undefined {
  return queries.select().from(jobs).where(eq(jobs.id, id)).get();
}

/** In the order of submission (the rows' own order). */
export function listJobs(queries: Queries, run: string): JobRow[] {
  return queries
    .select()
    .from(jobs)
    .where(eq(jobs.run, run))
    .orderBy(asc(sql`rowid`))
    .all();
}

/** Judged jobs of a device and suite that have an accepted attempt, newest first. */
export function listAcceptedJobsOf(queries: Queries, device: string, suite: string, limit: number): JobRow[] {
  return queries
    .select()
    .from(jobs)
    .where(and(eq(jobs.device, device), eq(jobs.suite, suite), eq(jobs.state, 'judged'), isNotNull(jobs.acceptedAttempt)))
    .orderBy(desc(sql`rowid`))
    .limit(limit)
    .all();
}

/** Jobs that are neither judged nor failed, oldest first. */
export function listUnfinishedJobs(queries: Queries): JobRow[] {
  return queries
    .select()
    .from(jobs)
    .where(notInArray(jobs.state, ['judged', 'failed']))
    .orderBy(asc(sql`rowid`))
    .all();
}

/** Jobs whose accepted attempt was never judged: the process died between the two. */
export function listAcceptedUnjudged(queries: Queries): JobRow[] {
  return queries
    .select()
    .from(jobs)
    .where(and(isNotNull(jobs.acceptedAttempt), notInArray(jobs.state, ['judged', 'failed'])))
    .all();
}

export function updateJob(queries: Queries, id: string, values: Partial<Pick<JobRow, 'state' | 'note' | 'evidence' | 'adapter'>>, at: string): void {
  queries
    .update(jobs)
    .set({ ...values, updatedAt: at })
    .where(eq(jobs.id, id))
    .run();
}

/** Makes the attempt the job's own, where none is. @returns whether it did. */
export function acceptAttempt(queries: Queries, id: string, attempt: number, at: string): boolean {
  const done = queries
    .update(jobs)
    .set({ acceptedAttempt: attempt, updatedAt: at })
    .where(and(eq(jobs.id, id), isNull(jobs.acceptedAttempt)))
    .run();
  return done.changes === 1;
}

/** Counts one more BullMQ job made for this job. @returns the new count. */
export function countEnqueued(queries: Queries, id: string): number {
  return queries
    .update(jobs)
    .set({ enqueued: sql`${jobs.enqueued} + 1` })
    .where(eq(jobs.id, id))
    .returning({ enqueued: jobs.enqueued })
    .get().enqueued;
}
