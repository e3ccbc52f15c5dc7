/** Holds a stored run against its seal. */
import { listArms } from '../db/queries/arms.ts';
import { findRunEvent } from '../db/queries/events.ts';
import { listJobs } from '../db/queries/jobs.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import { findRun, type RunRow } from '../db/queries/runs.ts';
import type { Queries } from '../db/open.ts';
import { readSeal, sealDefect } from './core/sealed.ts';

/**
 * How a run differs from what was sealed, or the run whose pairs it adds to does; null when neither does.
 * Reads every planned leg of both.
 */
export function brokenSeal(queries: Queries, run: RunRow): string | null {
  const sealed = findRunEvent(queries, run.id, 'run.submitted')?.fields['seal'];
  const own = sealDefect({
    sealText: run.sealText,
    sealSha256: run.sealSha256,
    sealEvent: typeof sealed === 'string' ? sealed : null,
    rule: run.rule,
    pairs: run.pairs,
    allowSoftware: run.allowSoftware,
    arms: listArms(queries, run.id).map(({ label, head, settings, tree }) => ({ label, head, settings, tree })),
    jobs: listJobs(queries, run.id).map((job) => ({
      suite: job.suite,
      spec: job.spec,
      legs: listPlannedLegs(queries, job.id).map(({ position, arm, caseName, pair, args, pinnedIds }) => ({
        index: position,
        arm,
        case: caseName,
        pair,
        args,
        pinnedIds,
      })),
    })),
  });
  if (own !== null) return own;
  const before = readSeal(run.sealText).extends;
  if (before === null) return null;
  const earlier = findRun(queries, before.run);
  if (earlier === undefined || earlier.sealSha256 !== before.sha256) return `run ${before.run}, whose pairs these were added to, is no longer what it was`;
  const defect = brokenSeal(queries, earlier);
  return defect === null ? null : `run ${before.run}, whose pairs these were added to: ${defect}`;
}

/** The runs that a run adds pairs to, oldest first. */
export function earlierRuns(queries: Queries, run: RunRow): RunRow[] {
  const before = readSeal(run.sealText).extends;
  const earlier = before === null ? undefined : findRun(queries, before.run);
  return earlier === undefined ? [] : [...earlierRuns(queries, earlier), earlier];
}
