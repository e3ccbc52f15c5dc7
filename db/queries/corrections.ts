import { asc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { corrections } from '../schema.ts';

export type CorrectionRow = typeof corrections.$inferSelect;

export function addCorrection(queries: Queries, row: Omit<CorrectionRow, 'id'>): void {
  queries.insert(corrections).values(row).run();
}

/** What was appended to figures of a run, oldest first. */
export function listCorrections(queries: Queries, run: string): CorrectionRow[] {
  return queries.select().from(corrections).where(eq(corrections.run, run)).orderBy(asc(corrections.id)).all();
}
