/** Verdicts of a job: computed from stored rows and files once an attempt is accepted, or `not-run` when no attempt can succeed. */
import { addCalibrations } from '../db/queries/calibrations.ts';
import { addEvent } from '../db/queries/events.ts';
import { listArms } from '../db/queries/arms.ts';
import { findJob, listAcceptedUnjudged, listJobs, updateJob, type JobRow } from '../db/queries/jobs.ts';
import { listLegResults } from '../db/queries/leg-results.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import { findRun, type RunRow } from '../db/queries/runs.ts';
import { addVerdicts } from '../db/queries/verdicts.ts';
import type { Queries, Store } from '../db/open.ts';
import type { BlobStore } from './blobs.ts';
import { calibratingRun, calibrationsOf } from './core/calibrate.ts';
import type { JudgedLeg } from './core/judge-input.ts';
import { failedJobOf, judgeJobOf, type JudgedRun, type NumberedVerdict } from './core/judge-job.ts';
import { readSeal } from './core/sealed.ts';
import type { Log } from './events.ts';
import type { Calibration } from './protocol/calibration.ts';
import { brokenSeal, earlierRuns } from './seal-check.ts';

export interface Judge {
  /** Judges a job whose attempt was accepted, once; later calls return. A defect is logged and shown in the job's note. */
  judgeJob(job: string): Promise<void>;
  /** Judges what an earlier process accepted and did not get to judge. */
  judgeLeftover(): Promise<void>;
  /** Resolves once nothing is being judged. */
  settle(): Promise<void>;
}

export function openJudge(store: Store, blobs: BlobStore, log: Log): Judge {
  const running = new Map<string, Promise<void>>();

  const work = async (id: string): Promise<void> => {
    const row = findJob(store.queries, id);
    if (!row || row.acceptedAttempt === null || row.state === 'judged' || row.state === 'failed') return;
    const { verdicts, calibrations } = await computeVerdicts(store.queries, blobs, row);
    const at = new Date().toISOString();
    store.transaction((tx) => {
      addVerdicts(
        tx,
        verdicts.map(({ arm, verdict }) => ({ job: id, arm, verdict, computedAt: at })),
      );
      addCalibrations(tx, calibrations);
      updateJob(tx, id, { state: 'judged', note: '' }, at);
      for (const { verdict } of verdicts)
        addEvent(tx, { at, name: 'job.judged', run: row.run, job: id, fields: { candidate: verdict.candidate, verdict: verdict.verdict } });
    });
    for (const { verdict } of verdicts) log.event('job.judged', { job: id, candidate: verdict.candidate, verdict: verdict.verdict });
  };

  const judgeJob = (id: string): Promise<void> => {
    const there = running.get(id);
    if (there) return there;
    const started = work(id)
      .catch((error: unknown) => {
        log.event('job.not-judged', { job: id }, error);
        updateJob(
          store.queries,
          id,
          { note: `the legs are in, but the verdict could not be computed: ${error instanceof Error ? error.message : String(error)}` },
          new Date().toISOString(),
        );
      })
      .finally(() => running.delete(id));
    running.set(id, started);
    return started;
  };

  return {
    judgeJob,
    async judgeLeftover() {
      for (const row of listAcceptedUnjudged(store.queries)) await judgeJob(row.id);
    },
    async settle() {
      await Promise.all(running.values());
    },
  };
}

interface Judged {
  readonly verdicts: NumberedVerdict[];
  /** Of A/A runs; empty otherwise. */
  readonly calibrations: Calibration[];
}

async function computeVerdicts(queries: Queries, blobs: BlobStore, row: JobRow): Promise<Judged> {
  const run = findRun(queries, row.run)!;
  const broken = brokenSeal(queries, run);
  // Pairs that were added are judged with those before them; their legs and pairs count on, so none is named twice.
  const before = (broken === null ? earlierRuns(queries, run) : []).flatMap((earlier) => {
    const job = listJobs(queries, earlier.id).find((item) => item.device === row.device && item.suite === row.suite && item.acceptedAttempt !== null);
    return job === undefined ? [] : [{ job, pairs: earlier.pairs }];
  });
  const legs: JudgedLeg[] = [];
  if (broken === null) for (const job of [...before.map((item) => item.job), row]) legs.push(...(await measuredLegs(queries, blobs, job)));
  const pairs = before.reduce((sum, item) => sum + item.pairs, run.pairs);
  const verdicts = judgeJobOf(judgedRun(queries, run), row, legs, pairs, broken);
  if (broken !== null || !readSeal(run.sealText).calibrates) return { verdicts, calibrations: [] };
  return { verdicts, calibrations: calibrationsOf(calibratingRun(run.id, run.sealText), row, verdicts[0]?.verdict, legs) };
}

const judgedRun = (queries: Queries, { id, sealText, allowSoftware }: RunRow): JudgedRun => ({
  sealText,
  allowSoftware,
  labels: listArms(queries, id).map((arm) => arm.label),
});

/** The planned legs of a job's accepted attempt, with the stored texts of their results. */
async function measuredLegs(queries: Queries, blobs: BlobStore, row: JobRow): Promise<JudgedLeg[]> {
  const results = new Map(listLegResults(queries, row.id, row.acceptedAttempt!).map((result) => [result.position, result]));
  const legs: JudgedLeg[] = [];
  for (const planned of listPlannedLegs(queries, row.id)) {
    const result = results.get(planned.position);
    legs.push({
      index: planned.position,
      arm: planned.arm,
      case: planned.caseName,
      pair: planned.pair,
      measure: result?.measure ?? null,
      records: result?.records == null ? null : await blobs.read(result.records),
      log: result === undefined ? null : await blobs.read(result.log),
    });
  }
  return legs;
}

/** Ends a job without results, within the caller's transaction: state `failed`, a `not-run` verdict for every candidate. */
export function failJob(tx: Queries, row: JobRow, reason: string, next: string): void {
  const at = new Date().toISOString();
  updateJob(tx, row.id, { state: 'failed', note: next === '' ? reason : `${reason}. next: ${next}` }, at);
  addVerdicts(
    tx,
    failedJobOf(judgedRun(tx, findRun(tx, row.run)!), row, reason).map(({ arm, verdict }) => ({ job: row.id, arm, verdict, computedAt: at })),
  );
  addEvent(tx, { at, name: 'job.failed', run: row.run, job: row.id, fields: { reason } });
}
