/** Holds a stored run against its seal. */
import { listArms } from '../db/queries/arms.ts';
import { findRunEvent } from '../db/queries/events.ts';
import { listJobs } from '../db/queries/jobs.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import type { RunRow } from '../db/queries/runs.ts';
import type { Queries } from '../db/open.ts';
import { sealDefect } from './core/sealed.ts';

/** How a run differs from what was sealed; null when it does not. Reads every planned leg of the run. */
export function brokenSeal(queries: Queries, run: RunRow): string | null {
  const sealed = findRunEvent(queries, run.id, 'run.submitted')?.fields['seal'];
  return sealDefect({
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
}
