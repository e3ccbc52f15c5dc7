/** Runs as pages and reports read them, assembled from stored rows only. */
import { listArms } from '../db/queries/arms.ts';
import { listAttempts } from '../db/queries/attempts.ts';
import { listCalibrationsOf } from '../db/queries/calibrations.ts';
import { findDevice } from '../db/queries/devices.ts';
import { findImport, listImports } from '../db/queries/imports.ts';
import { listJobs, type JobRow } from '../db/queries/jobs.ts';
import { listLegResults } from '../db/queries/leg-results.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import { findRun, listRuns, type RunRow } from '../db/queries/runs.ts';
import { listVerdicts } from '../db/queries/verdicts.ts';
import type { Queries } from '../db/open.ts';
import { correctionsIn } from './correct.ts';
import { byCase } from './core/calibrate.ts';
import { coverageOf, shownCoverage } from './core/coverage.ts';
import { readSeal } from './core/sealed.ts';
import { refusedVerdict } from './core/verdict.ts';
import { withholdGains } from './core/withhold.ts';
import { isLive } from './devices.ts';
import type { JobView, RunSummary, RunView } from './protocol/run.ts';
import { pooledModesOf } from './pooled-modes.ts';
import type { Verdict } from './protocol/verdict.ts';
import { brokenSeal, earlierRuns } from './seal-check.ts';

const MAX_LISTED_RUNS = 50;

/** @param origin of the coordinator, such as http://127.0.0.1:7420. @returns null for an unknown run. */
export function viewRun(queries: Queries, origin: string, id: string): RunView | null {
  const run = findRun(queries, id);
  if (!run) return viewImport(queries, origin, id);
  const arms = listArms(queries, id);
  const labels = arms.map((arm) => arm.label);
  const rows = listJobs(queries, id);
  const broken = brokenSeal(queries, run);
  const verdicts = shownVerdicts(queries, rows, broken);
  const terms = termsOf(run);
  const jobs = rows.map((row) => viewJob(queries, row, verdicts.get(row.id)!));
  return {
    schema: 1,
    run: id,
    url: `${origin}/runs/${id}`,
    submittedAt: run.submittedAt,
    arms: arms.map(({ label, head, settings, tree, subject }) => ({ label, head, settings, tree, subject })),
    pairs: run.pairs,
    ...terms,
    seal: { sha256: run.sealSha256, at: run.sealAt, text: run.sealText, broken },
    ...(terms.calibrates && broken === null
      ? {
          calibrated: listCalibrationsOf(queries, id)
            .map((row) => row.calibration)
            .toSorted(byCase),
        }
      : {}),
    done: rows.every(isFinished),
    jobs,
    pooledModes: pooledModesOf(
      queries,
      id,
      jobs.flatMap((job) =>
        job.verdicts.flatMap((verdict, at) =>
          verdict.effects.length === 0 ? [] : [{ device: job.device, suite: job.suite, arm: at + 1, cases: verdict.effects.map((effect) => effect.case) }],
        ),
      ),
    ),
    corrections: correctionsIn(queries, id, broken === null ? earlierRuns(queries, run).map((earlier) => earlier.id) : []),
    coverage: shownCoverage(
      [...jobs.flatMap((job, at) => coverageOf({ ...job, arms: rows[at]!.arms, notComparable: rows[at]!.notComparable }, labels)), ...run.coverageNotRun],
      jobs,
    ),
  };
}

/** A run that was imported, with what was appended to its figures here. */
function viewImport(queries: Queries, origin: string, id: string): RunView | null {
  const row = findImport(queries, id);
  if (!row) return null;
  return { ...row.view, url: `${origin}/runs/${id}`, corrections: [...(row.view.corrections ?? []), ...correctionsIn(queries, id, [])] };
}

/** The newest runs, newest first; those that were imported stand where they were submitted. */
export function listRunSummaries(queries: Queries): RunSummary[] {
  const imported = listImports(queries, MAX_LISTED_RUNS).map(({ view, kind }): RunSummary => ({
    run: view.run,
    submittedAt: view.submittedAt,
    imported: kind,
    ...(view.calibrates ? { calibrates: true } : {}),
    arms: view.arms.map((arm) => arm.label),
    jobs: view.jobs.map(({ device, suite, state, note, verdicts, legs }) => ({
      device,
      suite,
      state,
      note,
      verdicts: verdicts.map((verdict) => verdict.verdict),
      legsDone: legs.filter((leg) => leg.measure !== null).length,
      legs: legs.length,
    })),
    done: true,
  }));
  return [...measuredSummaries(queries), ...imported].toSorted((a, b) => b.submittedAt.localeCompare(a.submittedAt)).slice(0, MAX_LISTED_RUNS);
}

function measuredSummaries(queries: Queries): RunSummary[] {
  return listRuns(queries, MAX_LISTED_RUNS).map((run) => {
    const rows = listJobs(queries, run.id);
    const verdicts = shownVerdicts(queries, rows, brokenSeal(queries, run));
    return {
      run: run.id,
      submittedAt: run.submittedAt,
      ...(termsOf(run).calibrates ? { calibrates: true } : {}),
      arms: listArms(queries, run.id).map((arm) => arm.label),
      jobs: rows.map((row) => {
        const legs = listPlannedLegs(queries, row.id).length;
        const attempt = shownAttempt(queries, row);
        return {
          device: row.device,
          suite: row.suite,
          state: row.state,
          note: noteOf(queries, row),
          verdicts: verdicts.get(row.id)!.map((verdict) => verdict.verdict),
          legsDone: attempt === null ? 0 : listLegResults(queries, row.id, attempt).length,
          legs,
        };
      }),
      done: rows.every(isFinished),
    };
  });
}

const isFinished = (row: JobRow): boolean => row.state === 'judged' || row.state === 'failed';

/** The sealed rule and forecast. A text that cannot be read any more leaves the stored rule, to be shown beside `seal.broken`. */
function termsOf(run: RunRow): Pick<RunView, 'rule' | 'forecast' | 'extends' | 'stack' | 'seed' | 'mergeBase' | 'calibrates'> {
  try {
    return readSeal(run.sealText);
  } catch {
    return { rule: run.rule, forecast: null, extends: null, stack: false };
  }
}

/**
 * Verdicts by job, with gains withheld where the contract of the same device and candidate failed.
 * @param broken how the run differs from what was sealed: then no verdict stands, whatever was stored before.
 */
export function shownVerdicts(queries: Queries, rows: readonly JobRow[], broken: string | null): Map<string, Verdict[]> {
  const stored = rows.map((row) => listVerdicts(queries, row.id).map((item) => (broken === null ? item.verdict : refusedVerdict(item.verdict, broken))));
  const shown = withholdGains(stored.flat());
  let start = 0;
  return new Map(rows.map((row, at) => [row.id, shown.slice(start, (start += stored[at]!.length))]));
}

/** The accepted attempt, else the latest; null before the first claim. */
function shownAttempt(queries: Queries, row: JobRow): number | null {
  return row.acceptedAttempt ?? listAttempts(queries, row.id).at(-1)?.number ?? null;
}

function viewJob(queries: Queries, row: JobRow, verdicts: Verdict[]): JobView {
  const attempt = shownAttempt(queries, row);
  const results = new Map((attempt === null ? [] : listLegResults(queries, row.id, attempt)).map((result) => [result.position, result]));
  return {
    job: row.id,
    device: row.device,
    suite: row.suite,
    kind: row.spec.kind,
    state: row.state,
    evidence: row.evidence,
    adapter: row.adapter,
    note: noteOf(queries, row),
    attempts: listAttempts(queries, row.id).map(({ number, state, agent, openedAt, note }) => ({ number, state, agent, openedAt, note })),
    acceptedAttempt: row.acceptedAttempt,
    legs: listPlannedLegs(queries, row.id).map((leg) => {
      const result = results.get(leg.position);
      return {
        index: leg.position,
        arm: leg.arm,
        case: leg.caseName,
        pair: leg.pair,
        measure: result?.measure ?? null,
        log: result?.log ?? null,
        records: result?.records ?? null,
      };
    }),
    verdicts,
  };
}

/** The stored note, and that nobody serves the device where that is why nothing moves. */
function noteOf(queries: Queries, row: JobRow): string {
  if (isFinished(row)) return row.note;
  const device = findDevice(queries, row.device);
  if (!device || isLive(device)) return row.note;
  const away = `no agent of ${row.device} has answered since ${device.lastSeenAt}`;
  return row.note === '' ? away : `${row.note}; ${away}`;
}
