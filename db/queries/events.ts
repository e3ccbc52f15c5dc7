import { and, asc, eq, isNull } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { events } from '../schema.ts';

export type EventRow = typeof events.$inferSelect;

export function addEvent(queries: Queries, row: Omit<EventRow, 'id'>): void {
  queries.insert(events).values(row).run();
}

/** What happened to a job, oldest first. */
export function listEvents(queries: Queries, job: string): EventRow[] {
  return queries.select().from(events).where(eq(events.job, job)).orderBy(asc(events.id)).all();
}

/** The event of a run itself, such as its submission; the first of that name. */
export function findRunEvent(queries: Queries, run: string, name: string): EventRow | undefined {
  return queries
    .select()
    .from(events)
    .where(and(isNull(events.job), eq(events.run, run), eq(events.name, name)))
    .orderBy(asc(events.id))
    .get();
}
