/** Opens the database: write-ahead log, full sync (a 200 means durable), foreign keys, migrations applied or refused. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core';
import * as schema from './schema.ts';

/** A database or a transaction of it. Every query file takes one first. */
export type Queries = BaseSQLiteDatabase<'sync', Database.RunResult, typeof schema>;

export interface Store {
  readonly queries: Queries;
  /** Runs `work` in one BEGIN IMMEDIATE transaction. Synchronous: a promise would commit before its work is done. */
  transaction<T>(work: (queries: Queries) => T): T;
  /** Takes and drops the write lock. @throws when the database cannot be written. */
  probe(): void;
  close(): void;
}

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

/** The migration journal that the sources carry, oldest first. `when` must rise: drizzle skips an entry that is older than the last applied one. */
export function readJournal(): { tag: string; when: number }[] {
  return (JSON.parse(readFileSync(`${MIGRATIONS}/meta/_journal.json`, 'utf8')) as { entries: { tag: string; when: number }[] }).entries;
}

/**
 * Opens or creates the database file and migrates it.
 * @throws Error when the file holds a different number of migrations than the sources: it was written by another version of fleet.
 */
export function openStore(file: string): Store {
  const client = new Database(file);
  try {
    client.pragma('journal_mode = WAL');
    client.pragma('synchronous = FULL');
    client.pragma('busy_timeout = 5000');
    const db = drizzle(client, { schema });
    // Migrations may rebuild tables, which foreign keys would turn into deletions.
    client.pragma('foreign_keys = OFF');
    migrate(db, { migrationsFolder: MIGRATIONS });
    client.pragma('foreign_keys = ON');
    const applied = (client.prepare('SELECT count(*) AS n FROM __drizzle_migrations').get() as { n: number }).n;
    const known = readJournal().length;
    if (applied !== known) {
      throw new Error(
        `${file} has ${applied} migrations and these sources have ${known}: it belongs to another version of fleet. next: run that version, or start with another --state`,
      );
    }
    return {
      queries: db,
      transaction: (work) => db.transaction((tx) => work(tx), { behavior: 'immediate' }),
      probe: () => {
        client.exec('BEGIN IMMEDIATE');
        client.exec('ROLLBACK');
      },
      close: () => client.close(),
    };
  } catch (error) {
    client.close();
    throw error;
  }
}
