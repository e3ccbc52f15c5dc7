/** Takes runs that were measured elsewhere: shown and marked as imported, never changed, and never mixed with what was measured here. */
import { createHash } from 'node:crypto';
import { addBlob } from '../db/queries/blobs.ts';
import { addEvent } from '../db/queries/events.ts';
import { addImport, findImport, findImportOf, type ImportRow } from '../db/queries/imports.ts';
import { findRun } from '../db/queries/runs.ts';
import type { Store } from '../db/open.ts';
import type { BlobStore } from './blobs.ts';
import { ReceiptError } from './core/receipt-error.ts';
import { viewOfReceipt } from './core/receipt-view.ts';
import { recordsSeal, viewOfRecords } from './core/records-view.ts';
import { verifyReceipt } from './core/verify-receipt.ts';
import type { Log } from './events.ts';
import type { ImportRecordsRequest, RunView } from './protocol/run.ts';
import { readArchive } from './receipt-archive.ts';
import { Refusal } from './refusal.ts';
import { newRunId } from './run-ids.ts';

/**
 * Imports a receipt whose figures all follow from its raw files.
 * @returns the run. The same receipt again returns it too.
 * @throws Refusal bad-request (no receipt, or altered) or conflict (a run of this id is here).
 */
export async function importReceipt(store: Store, blobs: BlobStore, log: Log, bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  const files = await readable('fleet verify FILE', () => readArchive(hashed(bytes, hash)));
  const sha256 = hash.digest('hex');
  const result = await readable('fleet verify FILE', () => verifyReceipt(files));
  if (result.first !== null || result.changed.length > 0)
    throw new Refusal(
      'bad-request',
      `the receipt was altered: ${result.first?.figure ?? result.changed[0]} is not what was written`,
      'see what: fleet verify FILE',
    );
  const view = viewOfReceipt(files);
  const texts = [...files].flatMap(([name, text]) => (/\/(?:records\.ndjson|log\.txt)$/.test(name) ? [text] : []));
  return keep(store, blobs, log, { run: view.run, kind: 'receipt', sha256, submittedAt: view.submittedAt, view }, texts);
}

/** Imports bare engine records. @throws Refusal bad-request naming the file. */
export async function importRecords(store: Store, blobs: BlobStore, log: Log, request: ImportRecordsRequest): Promise<string> {
  const { sha256 } = recordsSeal(request);
  const there = findImportOf(store.queries, sha256);
  if (there) return there.run;
  const run = newRunId();
  const at = new Date().toISOString();
  const view = await readable('fleet engine contract --records FILE', () => viewOfRecords(request, run, `urn:fleet:${run}`, at));
  const texts = request.files.map((file) => file.records);
  return keep(store, blobs, log, { run, kind: 'records', sha256, submittedAt: at, view }, texts);
}

async function keep(store: Store, blobs: BlobStore, log: Log, row: Omit<ImportRow, 'at'>, texts: readonly string[]): Promise<string> {
  const stored: Awaited<ReturnType<BlobStore['put']>>[] = [];
  for (const text of new Set(texts)) stored.push(await blobs.put(text));
  const at = new Date().toISOString();
  const { run, kind, sha256 } = row;
  const view: RunView = { ...row.view, imported: { kind, at, sha256 } };
  const added = store.transaction((tx) => {
    if (findRun(tx, run)) throw new Refusal('conflict', `run ${run} was measured for this coordinator and is here`, `fleet report ${run}`);
    const there = findImport(tx, run);
    if (there?.sha256 === sha256) return false;
    if (there) throw new Refusal('conflict', `another receipt of run ${run} was imported ${there.at}`, `fleet report ${run}`);
    for (const blob of stored) addBlob(tx, { ...blob, addedAt: at });
    addImport(tx, { ...row, view, at });
    addEvent(tx, { at, name: 'run.imported', run, job: null, fields: { kind, sha256 } });
    return true;
  });
  if (added) log.event('run.imported', { run, kind });
  return run;
}

async function readable<T>(next: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ReceiptError) throw new Refusal('bad-request', `nothing was imported: ${error.message}`, next, error);
    throw error;
  }
}

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: ReturnType<typeof createHash>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}
