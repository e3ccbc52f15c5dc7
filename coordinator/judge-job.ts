/** Verdicts of a job: computed from stored rows and files once an attempt is accepted, or `not-run` when no attempt can succeed. */
import { addEvent } from '../db/queries/events.ts';
import { listArms } from '../db/queries/arms.ts';
import { findJob, listAcceptedUnjudged, listJobs, updateJob, type JobRow } from '../db/queries/jobs.ts';
import { listLegResults } from '../db/queries/leg-results.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import { findRun, type RunRow } from '../db/queries/runs.ts';
import { addVerdicts } from '../db/queries/verdicts.ts';
import type { Queries, Store } from '../db/open.ts';
import type { BlobStore } from './blobs.ts';
import { comparisonLabel, comparisonsOf, type Comparison } from './core/comparisons.ts';
import type { JudgedLeg } from './core/judge-input.ts';
import { readSeal } from './core/sealed.ts';
import { judge, notRunVerdict, refusedVerdict } from './core/verdict.ts';
import type { Log } from './events.ts';
import type { Verdict } from './protocol/verdict.ts';
import { brokenSeal, earlierRuns } from './seal-check.ts';
import { lacksSuite } from './select-work.ts';

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
    const verdicts = await computeVerdicts(store.queries, blobs, row);
    const at = new Date().toISOString();
    store.transaction((tx) => {
      addVerdicts(
        tx,
        verdicts.map(({ arm, verdict }) => ({ job: id, arm, verdict, computedAt: at })),
      );
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

async function computeVerdicts(queries: Queries, blobs: BlobStore, row: JobRow): Promise<{ arm: number; verdict: Verdict }[]> {
  const run = findRun(queries, row.run)!;
  const arms = listArms(queries, row.run);
  const broken = brokenSeal(queries, run);
  const compared = comparedArms(queries, run);
  if (broken !== null)
    return compared.map(({ arm, label: candidate }) => ({
      arm,
      verdict: refusedVerdict({ device: row.device, suite: row.suite, candidate, evidence: row.evidence }, broken),
    }));
  // The rule comes from the sealed text, which `brokenSeal` held to its hash.
  const { rule, forecast, stack } = readSeal(run.sealText);
  // Pairs that were added are judged with those before them; their legs and pairs count on, so none is named twice.
  const before = earlierRuns(queries, run).flatMap((earlier) => {
    const job = listJobs(queries, earlier.id).find((item) => item.device === row.device && item.suite === row.suite && item.acceptedAttempt !== null);
    return job === undefined ? [] : [{ job, pairs: earlier.pairs }];
  });
  const legs: JudgedLeg[] = [];
  for (const job of [...before.map((item) => item.job), row]) legs.push(...(await measuredLegs(queries, blobs, job)));
  const { device, suite, evidence } = row;
  return compared.map(({ arm, label, baseline, candidate }) => {
    const absent = [candidate, baseline].find((position) => !row.arms.includes(position));
    if (absent !== undefined) return { arm, verdict: notRunVerdict({ device, suite, candidate: label, evidence }, lacksSuite(arms[absent]!.label, suite)) };
    const verdict = judge({
      device,
      suite,
      kind: row.spec.kind,
      timed: row.spec.timed,
      ...(row.spec.time === undefined ? {} : { time: row.spec.time }),
      evidence,
      adapter: row.adapter,
      allowSoftware: run.allowSoftware,
      baseline: arms[baseline]!.label,
      candidate: label,
      candidateArm: candidate,
      ...(stack ? { comparison: arm } : {}),
      pairs: before.reduce((sum, item) => sum + item.pairs, run.pairs),
      rule,
      ...(forecast === null ? {} : { forecast }),
      legs: asBaseline(legs, baseline),
      notComparable: row.notComparable
        .filter((item) => item.arm === candidate || (item.arm === baseline && baseline > 0))
        .map((item) => ({ case: item.case, note: item.note })),
      calibration: null,
    });
    return { arm, verdict };
  });
}

/** The run's comparisons; `arm` numbers their verdicts from 1, and is the candidate's position in runs that are no stack. */
function comparedArms(queries: Queries, run: RunRow): (Comparison & { arm: number; label: string })[] {
  const labels = listArms(queries, run.id).map((arm) => arm.label);
  const stack = isStack(run);
  return comparisonsOf(labels.length, stack).map((item, at) => ({ ...item, arm: at + 1, label: comparisonLabel(item, labels, stack) }));
}

/** A seal that cannot be read any more gets a verdict that says so, and needs the comparisons for it. */
function isStack(run: RunRow): boolean {
  try {
    return readSeal(run.sealText).stack;
  } catch {
    return false;
  }
}

/** A verdict calls its baseline arm 0: legs of that arm are, and those of the first arm are none of its business. */
function asBaseline(legs: readonly JudgedLeg[], baseline: number): JudgedLeg[] {
  return baseline === 0 ? [...legs] : legs.filter((leg) => leg.arm !== 0).map((leg) => (leg.arm === baseline ? { ...leg, arm: 0 } : leg));
}

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
    comparedArms(tx, findRun(tx, row.run)!).map(({ arm, label: candidate }) => ({
      job: row.id,
      arm,
      verdict: notRunVerdict({ device: row.device, suite: row.suite, candidate, evidence: row.evidence }, reason),
      computedAt: at,
    })),
  );
  addEvent(tx, { at, name: 'job.failed', run: row.run, job: row.id, fields: { reason } });
}
