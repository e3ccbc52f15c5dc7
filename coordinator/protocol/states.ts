/** States of jobs, attempts and legs, with the transitions that are allowed. A snapshot test holds both. */
import { z } from 'zod';

/**
 * queued: in SQLite and (usually) in Redis. preparing: an attempt is open, heads are being prepared outside the lock.
 * waiting-lock: prepared; somebody holds the device's GPU lock. running: lock held, legs are running.
 * judged: an attempt was accepted and the verdict stored. failed: no attempt can succeed (the reason is stored); judged `not-run`.
 */
export const jobState = z.enum(['queued', 'preparing', 'waiting-lock', 'running', 'judged', 'failed']);
export type JobState = z.infer<typeof jobState>;

/**
 * From `queued` an open attempt that was thought dead may report again; from any state an earlier attempt may post its last leg
 * first, which makes the job `judged`.
 */
export const JOB_TRANSITIONS: Readonly<Record<JobState, readonly JobState[]>> = {
  queued: ['preparing', 'waiting-lock', 'running', 'judged', 'failed'],
  preparing: ['waiting-lock', 'running', 'judged', 'queued', 'failed', 'preparing'],
  'waiting-lock': ['running', 'judged', 'queued', 'failed', 'preparing'],
  running: ['judged', 'queued', 'failed', 'preparing'],
  judged: [],
  failed: [],
};

/** open: its token is good. accepted: its legs are the job's. superseded: a later attempt was opened. failed: the agent gave up, with a reason. */
export const attemptState = z.enum(['open', 'accepted', 'superseded', 'failed']);
export type AttemptState = z.infer<typeof attemptState>;

export const ATTEMPT_TRANSITIONS: Readonly<Record<AttemptState, readonly AttemptState[]>> = {
  open: ['accepted', 'superseded', 'failed'],
  superseded: ['accepted'],
  accepted: [],
  failed: [],
};

/** How a leg ended. `void-lock`: the lock was not held before or after it. */
export const legOutcome = z.enum(['executed', 'refused', 'usage', 'timeout', 'broken', 'signal', 'void-lock']);

/**
 * Whether a leg ends its series: a command line that the engine refuses is refused again, so the agent runs no further leg and the
 * coordinator accepts the attempt as it is. In a `lines` suite an exit status is a finding of the command.
 */
export const endsSeries = (kind: 'contract' | 'decode' | 'lines', outcome: z.infer<typeof legOutcome>): boolean => kind !== 'lines' && outcome === 'usage';
