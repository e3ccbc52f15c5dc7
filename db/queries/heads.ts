import { eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { heads } from '../schema.ts';

export type HeadRow = typeof heads.$inferSelect;

/** Adds a head; a head that is there stays as it is (a commit never changes). */
export function addHead(queries: Queries, row: HeadRow): void {
  queries.insert(heads).values(row).onConflictDoNothing().run();
}

export function findHead(queries: Queries, sha: string): HeadRow | undefined {
  return queries.select().from(heads).where(eq(heads.sha, sha)).get();
}
