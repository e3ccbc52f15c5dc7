/** Collects the receipt of a finished run from stored rows and files. */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { listArms } from '../db/queries/arms.ts';
import { listAttempts } from '../db/queries/attempts.ts';
import { findRunEvent, listEvents } from '../db/queries/events.ts';
import { listJobs, type JobRow } from '../db/queries/jobs.ts';
import { listLegResults } from '../db/queries/leg-results.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import { findRun, type RunRow } from '../db/queries/runs.ts';
import type { Queries } from '../db/open.ts';
import type { BlobStore } from './blobs.ts';
import { canonicalJson, sha256Hex } from './core/canonical.ts';
import { byName, hashList, legFile, orderFile, sealFile } from './core/receipt.ts';
import { receiptUrl } from './core/receipt-view.ts';
import { renderMarkdown } from './core/report.ts';
import { renderCsv } from './core/report-csv.ts';
import { RECEIPT_FILES, type Receipt, type ReceiptJob, type ReceiptRun } from './protocol/receipt.ts';
import type { RunView } from './protocol/run.ts';
import { writeArchive, type ArchiveFile } from './receipt-archive.ts';
import { Refusal } from './refusal.ts';
import { viewRun } from './run-view.ts';
import { earlierRuns } from './seal-check.ts';

const VERSION = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;

/** A raw file: either a text made here, or a stored file that is read when it is packed. */
type RawFile = ArchiveFile & { readonly sha256: string };

/**
 * The run's receipt as a tar. The same run gives the same bytes, until a correction is appended to it.
 * @throws Refusal not-found, or conflict when the run is not done.
 */
export function receiptOf(queries: Queries, blobs: BlobStore, id: string): Readable {
  const run = findRun(queries, id);
  const shown = viewRun(queries, 'urn:fleet', id);
  if (!run && shown) throw new Refusal('conflict', `run ${id} was imported`, 'use the file that it was imported from');
  if (!run || !shown) throw new Refusal('not-found', `there is no run ${id}`, 'list runs with: fleet status');
  if (!shown.done) throw new Refusal('conflict', `run ${id} is not done, and a receipt is of all of it`, `fleet watch ${id}`);
  // What other runs say of these trees is no part of this run, and an address belongs to one coordinator.
  const { pooledModes: _, corrections, ...rest } = shown;
  const view: RunView = { ...rest, url: receiptUrl(id), ...(corrections?.length ? { corrections } : {}) };
  const runs = [...earlierRuns(queries, run), run];
  const receipt: Receipt = { schema: 1, fleet: VERSION, runs: runs.map((row) => runOf(queries, row)), corrections: corrections ?? [] };
  const raw = [made(RECEIPT_FILES.receipt, canonicalJson(receipt)), ...runs.flatMap((row) => filesOf(queries, blobs, row))];
  const files: ArchiveFile[] = [
    ...raw,
    made(RECEIPT_FILES.hashes, hashList(raw)),
    made(RECEIPT_FILES.view, canonicalJson(view)),
    made(RECEIPT_FILES.markdown, renderMarkdown(view)),
    made(RECEIPT_FILES.csv, renderCsv(view)),
  ];
  return writeArchive(files.toSorted(byName));
}

const made = (name: string, text: string): RawFile => ({ name, sha256: sha256Hex(text), text: () => text });

function runOf(queries: Queries, row: RunRow): ReceiptRun {
  const sealed = findRunEvent(queries, row.id, 'run.submitted')?.fields['seal'];
  return {
    run: row.id,
    submittedAt: row.submittedAt,
    pairs: row.pairs,
    allowSoftware: row.allowSoftware,
    rule: row.rule,
    seal: { sha256: row.sealSha256, at: row.sealAt, event: typeof sealed === 'string' ? sealed : null },
    arms: listArms(queries, row.id).map(({ label, head, settings, tree, subject }) => ({ label, head, settings, tree, subject })),
    coverageNotRun: row.coverageNotRun,
    jobs: listJobs(queries, row.id).map((job) => jobOf(queries, job)),
  };
}

function jobOf(queries: Queries, row: JobRow): ReceiptJob {
  const { device, suite, spec, arms, notComparable, state, evidence, adapter, note, acceptedAttempt } = row;
  const failed = state === 'failed' ? listEvents(queries, row.id).findLast((event) => event.name === 'job.failed') : undefined;
  const attempts = listAttempts(queries, row.id).map((attempt) => ({
    number: attempt.number,
    state: attempt.state,
    agent: attempt.agent,
    openedAt: attempt.openedAt,
    note: attempt.note,
  }));
  const failure = failed === undefined ? null : String(failed.fields['reason']);
  return { device, suite, spec, arms, notComparable, state, evidence, adapter, note, attempts, acceptedAttempt, failure };
}

function filesOf(queries: Queries, blobs: BlobStore, run: RunRow): RawFile[] {
  const stored = (name: string, sha256: string): RawFile => ({ name, sha256, text: () => blobs.read(sha256) });
  return [
    made(sealFile(run.id), run.sealText),
    ...listJobs(queries, run.id).flatMap((job) => {
      const order = listPlannedLegs(queries, job.id).map(({ position, arm, caseName, pair, args, pinnedIds }) => ({
        index: position,
        arm,
        case: caseName,
        pair,
        args,
        pinnedIds,
      }));
      const legs = listAttempts(queries, job.id).flatMap(({ number }) =>
        listLegResults(queries, job.id, number).flatMap((leg) => [
          made(legFile(run.id, job.device, job.suite, number, leg.position, 'measure.json'), canonicalJson(leg.measure)),
          ...(leg.records === null ? [] : [stored(legFile(run.id, job.device, job.suite, number, leg.position, 'records.ndjson'), leg.records)]),
          stored(legFile(run.id, job.device, job.suite, number, leg.position, 'log.txt'), leg.log),
        ]),
      );
      return [made(orderFile(run.id, job.device, job.suite), canonicalJson(order)), ...legs];
    }),
  ];
}
