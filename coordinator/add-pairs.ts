/** More pairs of a judged run: a run of its own that goes on with the order, under the same rule, sealed with the seal it adds to. */
import { listArms } from '../db/queries/arms.ts';
import { findImport } from '../db/queries/imports.ts';
import { listJobs, type JobRow } from '../db/queries/jobs.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import { findRun, type RunRow } from '../db/queries/runs.ts';
import type { Queries, Store } from '../db/open.ts';
import { readSeal, sealedNoise } from './core/sealed.ts';
import type { Log } from './events.ts';
import type { Heads } from './heads/repository.ts';
import type { AddPairsRequest, SubmitRequest } from './protocol/run.ts';
import type { Carrier } from './queue/reconcile.ts';
import { Refusal } from './refusal.ts';
import { shownVerdicts } from './run-view.ts';
import { brokenSeal, earlierRuns } from './seal-check.ts';
import { submitRun, type SubmittedRun } from './submit.ts';

/**
 * Plans `pairs` more pairs of every case that showed a gain, on the devices where it did. They are judged together with those before.
 * A forecast is not taken over: it was scored by the first verdict.
 * @throws Refusal not-found, or conflict when there is nothing that pairs could be added to.
 */
export async function addPairs(store: Store, heads: Heads, carrier: Carrier, log: Log, id: string, { pairs, key }: AddPairsRequest): Promise<SubmittedRun> {
  const { queries } = store;
  const run = findRun(queries, id);
  if (!run && findImport(queries, id)) throw new Refusal('conflict', `run ${id} was imported and is read-only`, 'submit its heads here');
  if (!run) throw new Refusal('not-found', `there is no run ${id}`, 'list runs with: fleet status');
  const jobs = timedJobs(queries, run);
  const suites = [...new Set(jobs.map((job) => job.suite))];
  const { rule, stack, seed, mergeBase } = readSeal(run.sealText);
  const request: SubmitRequest = {
    arms: listArms(queries, id).map(({ label, head, settings }) => ({ label, head, settings })),
    suites,
    cases: suites.flatMap((suite) => jobs.find((job) => job.suite === suite)!.spec.cases.map((item) => `${suite}/${item.name}`)),
    devices: [...new Set(jobs.map((job) => job.device))],
    pairs,
    rule: rule.text,
    ...(stack ? { stack } : {}),
    ...(mergeBase === undefined ? {} : { mergeBase }),
    ...(seed === undefined ? {} : { seed }),
    allowSoftware: run.allowSoftware,
    key,
  };
  const legs = new Map(
    suites.map((suite) => [suite, 1 + Math.max(...listPlannedLegs(queries, jobs.find((job) => job.suite === suite)!.id).map((leg) => leg.position))]),
  );
  const before = earlierRuns(queries, run).reduce((sum, earlier) => sum + earlier.pairs, run.pairs);
  const { calibrations } = sealedNoise(run.sealText);
  return submitRun(store, heads, carrier, log, request, { added: { extends: { run: id, sha256: run.sealSha256, pairs: before }, legs, calibrations } });
}

/** Jobs that pairs can be added to: judged, with a gain to show. */
function timedJobs(queries: Queries, run: RunRow): JobRow[] {
  const broken = brokenSeal(queries, run);
  if (broken !== null) throw new Refusal('conflict', `no pairs can be added to run ${run.id}: ${broken}`, 'submit the heads anew');
  const rows = listJobs(queries, run.id);
  if (rows.some((row) => row.state !== 'judged' && row.state !== 'failed'))
    throw new Refusal('conflict', `run ${run.id} is not done, and pairs are added to what was judged`, `fleet watch ${run.id}`);
  if (readSeal(run.sealText).calibrates)
    throw new Refusal(
      'conflict',
      `run ${run.id} is an A/A calibration, and a longer one is a new one`,
      `fleet calibrate --device ${rows[0]!.device} --pairs N`,
    );
  const verdicts = shownVerdicts(queries, rows, null);
  const jobs = rows.filter((row) => row.spec.timed && verdicts.get(row.id)!.some((verdict) => verdict.effects.length > 0));
  if (jobs.length > 0) return jobs;
  throw new Refusal('conflict', `run ${run.id} shows no gain that more pairs could settle`, `see why: fleet watch ${run.id}`);
}
