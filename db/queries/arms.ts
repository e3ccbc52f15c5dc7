import { asc, eq } from 'drizzle-orm';
import type { Queries } from '../open.ts';
import { arms, heads } from '../schema.ts';

export type ArmRow = typeof arms.$inferSelect;
export type ArmWithHead = ArmRow & { tree: string; subject: string };

export function addArms(queries: Queries, rows: ArmRow[]): void {
  queries.insert(arms).values(rows).run();
}

/** A run's arms in order, each with what is known of its head. */
export function listArms(queries: Queries, run: string): ArmWithHead[] {
  return queries
    .select({ run: arms.run, position: arms.position, label: arms.label, head: arms.head, settings: arms.settings, tree: heads.tree, subject: heads.subject })
    .from(arms)
    .innerJoin(heads, eq(heads.sha, arms.head))
    .where(eq(arms.run, run))
    .orderBy(asc(arms.position))
    .all();
}
