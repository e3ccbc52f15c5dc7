import { eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { blobs } from '../schema.ts';

export type BlobRow = typeof blobs.$inferSelect;

/** Adds the row of a file that is on disk already; the same content twice is one row. */
export function addBlob(queries: Queries, row: BlobRow): void {
  queries.insert(blobs).values(row).onConflictDoNothing().run();
}

export function findBlob(queries: Queries, sha256: string): BlobRow | undefined {
  return queries.select().from(blobs).where(eq(blobs.sha256, sha256)).get();
}
