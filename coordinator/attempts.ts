/**
 * Attempts: opened by a claim, fenced by their number, ended by the last leg or a failure. The first attempt whose legs are all
 * in is the job's, whatever opened after it; every other attempt's legs are kept and count for nothing.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { addAttempt, findAttempt, listAttempts, updateAttempt, type AttemptRow } from '../db/queries/attempts.ts';
import { listArms } from '../db/queries/arms.ts';
import { findDevice } from '../db/queries/devices.ts';
import { addEvent } from '../db/queries/events.ts';
import { findHead } from '../db/queries/heads.ts';
import { findJob, updateJob, type JobRow } from '../db/queries/jobs.ts';
import { listPlannedLegs } from '../db/queries/planned-legs.ts';
import { findRun } from '../db/queries/runs.ts';
import type { Queries, Store } from '../db/open.ts';
import { comparedCount, comparisonsOf } from './core/comparisons.ts';
import { logitsLimit, rowsToCompare } from './core/logits-rows.ts';
import { readSeal } from './core/sealed.ts';
import type { Log } from './events.ts';
import { failJob } from './judge-job.ts';
import type { JobSpec, RowsPair } from './protocol/agent.ts';
import { ATTEMPT_TRANSITIONS, JOB_TRANSITIONS, type AttemptState, type JobState } from './protocol/states.ts';
import { Refusal } from './refusal.ts';

/** After so many attempts that ended as failed, or were opened at all, no further one is made. */
const MAX_FAILED_ATTEMPTS = 3;
const MAX_ATTEMPTS = 20;

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Opens the next attempt of a job for the agent that serves its device, and supersedes the open ones.
 * @throws Refusal not-found, forbidden (another device or agent), gone (judged or failed).
 */
export function claimJob(store: Store, log: Log, id: string, device: string, agent: string): JobSpec {
  const token = randomBytes(32).toString('base64url');
  const at = new Date().toISOString();
  const claimed = store.transaction((tx) => {
    const row = existingJob(tx, id);
    if (row.device !== device) throw new Refusal('forbidden', `job ${id} belongs to device ${row.device}, not ${device}`, 'claim the jobs of your own queue');
    const served = findDevice(tx, device);
    if (served?.agent !== agent) throw new Refusal('forbidden', `device ${device} is served by another agent now`, 'stop this agent, or register it again');
    const earlier = listAttempts(tx, id);
    if (row.acceptedAttempt !== null || row.state === 'judged' || row.state === 'failed')
      throw new Refusal('gone', `job ${id} is ${row.state === 'failed' ? 'failed' : 'measured'} already`, 'take the next job');
    if (earlier.length >= MAX_ATTEMPTS) {
      const last = earlier.at(-1)!;
      if (last.state === 'open') updateAttempt(tx, id, last.number, { state: changed(last, 'failed'), note: 'the last attempt that this job may have' });
      failJob(tx, row, `${earlier.length} attempts were opened and none came to an end`, `look at the log of the agent of ${device}`);
      return null;
    }
    const number = (earlier.at(-1)?.number ?? 0) + 1;
    supersedeOpen(tx, row, earlier, number, at);
    addAttempt(tx, { job: id, number, state: 'open', agent, tokenSha256: hashToken(token), openedAt: at, note: '' });
    // The device may have another driver than when the run was submitted; what runs now is what counts.
    updateJob(tx, id, { state: moved(row, 'preparing'), note: '', evidence: served.evidence, adapter: served.adapter }, at);
    addEvent(tx, { at, name: 'attempt.opened', run: row.run, job: id, fields: { attempt: number, agent } });
    return specOf(tx, row, number, token);
  });
  if (claimed === null) throw new Refusal('gone', `job ${id} failed: too many attempts were opened`, 'take the next job');
  log.event('attempt.opened', { job: id, attempt: claimed.attempt, agent });
  return claimed;
}

/** @throws Refusal not-found, or forbidden when the token is not this attempt's. */
export function authorise(queries: Queries, id: string, number: number, token: string | null): AttemptRow {
  existingJob(queries, id);
  const attempt = findAttempt(queries, id, number);
  if (!attempt) throw new Refusal('not-found', `job ${id} has no attempt ${number}`, 'claim the job first');
  const given = Buffer.from(hashToken(token ?? ''), 'hex');
  if (token === null || !timingSafeEqual(given, Buffer.from(attempt.tokenSha256, 'hex')))
    throw new Refusal('forbidden', `the token is not that of attempt ${number} of job ${id}`, 'send Authorization: Bearer TOKEN with the token of the claim');
  return attempt;
}

/** @throws Refusal gone when the attempt is open no more: the agent stops, and still posts what it measured. */
export function recordProgress(store: Store, log: Log, id: string, number: number, state: JobState, note: string): void {
  const at = new Date().toISOString();
  store.transaction((tx) => {
    const row = existingJob(tx, id);
    const attempt = findAttempt(tx, id, number)!;
    if (attempt.state !== 'open' || row.acceptedAttempt !== null)
      throw new Refusal('gone', `attempt ${number} of job ${id} is ${attempt.state}`, 'stop it; what it measured may still be posted');
    updateJob(tx, id, { state: moved(row, state), note }, at);
    updateAttempt(tx, id, number, { note });
    addEvent(tx, { at, name: 'attempt.progress', run: row.run, job: id, fields: { attempt: number, state, note } });
  });
  log.event('attempt.progress', { job: id, attempt: number, state });
}

/**
 * Ends an attempt without results. A repeat, or the report of an attempt that counts no more, changes nothing.
 * @returns whether the job is to be enqueued again.
 */
export function recordFailure(store: Store, log: Log, id: string, number: number, kind: 'transient' | 'permanent', reason: string, next: string): boolean {
  const at = new Date().toISOString();
  const again = store.transaction((tx) => {
    const row = existingJob(tx, id);
    const attempt = findAttempt(tx, id, number)!;
    if (attempt.state !== 'open') return false;
    updateAttempt(tx, id, number, { state: changed(attempt, 'failed'), note: reason });
    addEvent(tx, { at, name: 'attempt.failed', run: row.run, job: id, fields: { attempt: number, class: kind, reason } });
    if (row.acceptedAttempt !== null || row.state === 'failed' || row.state === 'judged') return false;
    const failures = listAttempts(tx, id).filter((other) => other.state === 'failed').length;
    if (kind === 'permanent') failJob(tx, row, reason, next);
    else if (failures >= MAX_FAILED_ATTEMPTS) failJob(tx, row, `${failures} attempts failed, the last one: ${reason}`, next);
    else {
      updateJob(tx, id, { state: moved(row, 'queued'), note: `attempt ${number} failed: ${reason}; queued again` }, at);
      return true;
    }
    return false;
  });
  log.event('attempt.failed', { job: id, attempt: number, class: kind, reason });
  return again;
}

/** Within the last leg's transaction: makes the attempt the job's own if it may be. @returns whether it is. */
export function acceptIfFirst(tx: Queries, row: JobRow, attempt: AttemptRow, accept: (id: string, number: number, at: string) => boolean, at: string): boolean {
  if (row.acceptedAttempt !== null) return row.acceptedAttempt === attempt.number;
  if (row.state === 'failed' || !ATTEMPT_TRANSITIONS[attempt.state].includes('accepted')) return false;
  if (!accept(row.id, attempt.number, at)) return false;
  updateAttempt(tx, row.id, attempt.number, { state: 'accepted' });
  supersedeOpen(tx, row, listAttempts(tx, row.id), attempt.number, at);
  addEvent(tx, { at, name: 'attempt.accepted', run: row.run, job: row.id, fields: { attempt: attempt.number } });
  return true;
}

/** @throws Refusal not-found. */
export function existingJob(queries: Queries, id: string): JobRow {
  const row = findJob(queries, id);
  if (!row) throw new Refusal('not-found', `there is no job ${id}`, 'list runs with: fleet status');
  return row;
}

function supersedeOpen(tx: Queries, row: JobRow, attempts: readonly AttemptRow[], by: number, at: string): void {
  for (const attempt of attempts) {
    if (attempt.state !== 'open' || attempt.number === by) continue;
    updateAttempt(tx, row.id, attempt.number, { state: changed(attempt, 'superseded'), note: `attempt ${by} took its place` });
    addEvent(tx, { at, name: 'attempt.superseded', run: row.run, job: row.id, fields: { attempt: attempt.number, by } });
  }
}

/** The new state of a job. @throws Refusal conflict for a move that states.ts does not allow. */
function moved(row: JobRow, to: JobState): JobState {
  if (row.state !== to && !JOB_TRANSITIONS[row.state].includes(to))
    throw new Refusal('conflict', `job ${row.id} may not go from ${row.state} to ${to}`, 'claim the job to begin again');
  return to;
}

function changed(attempt: AttemptRow, to: AttemptState): AttemptState {
  if (!ATTEMPT_TRANSITIONS[attempt.state].includes(to))
    throw new Error(`attempt ${attempt.number} of ${attempt.job} may not go from ${attempt.state} to ${to}`);
  return to;
}

function specOf(tx: Queries, row: JobRow, attempt: number, token: string): JobSpec {
  const arms = listArms(tx, row.run);
  const planned = listPlannedLegs(tx, row.id);
  const compared = row.spec.kind === 'decode' ? rowsOf(tx, row, planned) : [];
  const shas = [...new Set(row.arms.map((position) => arms[position]!.head))];
  return {
    run: row.run,
    job: row.id,
    attempt,
    token,
    device: row.device,
    suite: row.suite,
    spec: row.spec,
    heads: shas.map((head) => ({ head, prepare: findHead(tx, head)!.manifest.prepare })),
    ...(compared.length === 0 ? {} : { rows: compared }),
    legs: planned.map((leg) => ({
      index: leg.position,
      head: arms[leg.arm]!.head,
      settings: arms[leg.arm]!.settings,
      case: leg.caseName,
      args: leg.args,
      pinnedIds: leg.pinnedIds,
    })),
  };
}

/** Legs whose logits rows are compared on the box; none unless the sealed identity asks for it. */
function rowsOf(tx: Queries, row: JobRow, planned: ReturnType<typeof listPlannedLegs>): RowsPair[] {
  const { rule, stack, mergeBase } = readSeal(findRun(tx, row.run)!.sealText);
  if (logitsLimit(rule.identity) === null) return [];
  const legs = planned.map(({ position, arm, caseName, pair }) => ({ index: position, arm, case: caseName, pair }));
  return rowsToCompare(legs, comparisonsOf(comparedCount(listArms(tx, row.run).length, mergeBase), stack));
}
