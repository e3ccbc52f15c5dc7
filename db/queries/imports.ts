import { desc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { imports } from '../schema.ts';

export type ImportRow = typeof imports.$inferSelect;

export function addImport(queries: Queries, row: ImportRow): void {
  queries.insert(imports).values(row).run();
}

export function findImport(queries: Queries, run: string): ImportRow | undefined {
  return queries.select().from(imports).where(eq(imports.run, run)).get();
}

/** The import of exactly this content. */
export function findImportOf(queries: Queries, sha256: string): ImportRow | undefined {
  return queries.select().from(imports).where(eq(imports.sha256, sha256)).get();
}

/** Newest run first. */
export function listImports(queries: Queries, limit: number): ImportRow[] {
  return queries.select().from(imports).orderBy(desc(imports.submittedAt)).limit(limit).all();
}
