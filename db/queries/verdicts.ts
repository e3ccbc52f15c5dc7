import { asc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { verdicts } from '../schema.ts';

export type VerdictRow = typeof verdicts.$inferSelect;

export function addVerdicts(queries: Queries, rows: VerdictRow[]): void {
  if (rows.length > 0) queries.insert(verdicts).values(rows).run();
}

/** A job's verdicts, one a candidate arm, in the arms' order. */
export function listVerdicts(queries: Queries, job: string): VerdictRow[] {
  return queries.select().from(verdicts).where(eq(verdicts.job, job)).orderBy(asc(verdicts.arm)).all();
}
