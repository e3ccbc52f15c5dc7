/** What agents and the coordinator say to each other. All of it over HTTP; Redis carries job ids only. */
import { z } from 'zod';
import { evidence } from '../../engine/protocol.ts';
import { caseName, deviceName, jobId, runId, settings, sha1, suiteName } from './ids.ts';
import { manifest, manifestSuite } from './manifest.ts';
import { legMeasure } from './run.ts';

/** POST /api/devices/:device/register: an agent process says that it serves a device. */
export const registerRequest = z.strictObject({
  /** New for every agent process; a later registration takes the device over. */
  agent: z.string().min(8).max(64),
  adapter: z.string(),
  driver: z.string(),
  evidence,
  lockPath: z.string().describe('as people type it: flock LOCKPATH cmd'),
  host: z.string(),
  pid: z.int(),
});
export type RegisterRequest = z.infer<typeof registerRequest>;
/** `redis`: an ioredis URL for the device's own queue. */
export const registerResponse = z.object({ queue: z.string(), redis: z.string() });

/** POST /api/devices/:device/heartbeat, every 3 s; `stopped` is the last one of an agent that ends in order. */
export const heartbeatRequest = z.strictObject({
  agent: z.string(),
  activity: z.enum(['idle', 'preparing', 'waiting-lock', 'running', 'stopped']),
  job: jobId.nullable(),
  /** Leg being run, and of how many. */
  leg: z.int().nullable(),
  /** Who holds the lock while `waiting-lock`, as far as the host tells. */
  lockHolder: z.string().nullable(),
});
export type HeartbeatRequest = z.infer<typeof heartbeatRequest>;
/** `cancel`: jobs that this agent must stop. `superseded`: another agent serves the device now; this one must exit. */
export const heartbeatResponse = z.object({ cancel: z.array(jobId), superseded: z.boolean() });

export const deviceView = z.object({
  device: deviceName,
  adapter: z.string(),
  driver: z.string(),
  evidence,
  lockPath: z.string(),
  host: z.string(),
  live: z.boolean().describe('a heartbeat came within 15 s, and its agent was not stopped'),
  lastSeenAt: z.iso.datetime(),
  activity: z.string(),
  job: jobId.nullable(),
  note: z.string(),
});
export type DeviceView = z.infer<typeof deviceView>;

/** A planned leg with all that its process needs. */
export const legSpec = z.object({
  index: z.int().min(0),
  head: sha1,
  settings,
  case: caseName,
  args: z.array(z.string()),
  pinnedIds: z.array(z.int()).nullable(),
});
export type LegSpec = z.infer<typeof legSpec>;

/** Two legs whose logits rows the agent compares; both write theirs. */
export const rowsPair = z.object({ baselineLeg: z.int().min(0), candidateLeg: z.int().min(0) });
export type RowsPair = z.infer<typeof rowsPair>;

/** POST /api/jobs/:job/claim: opens an attempt. 409 with `gone` when the job is judged or failed. */
export const claimRequest = z.strictObject({ device: deviceName, agent: z.string() });
export const jobSpec = z.object({
  run: runId,
  job: jobId,
  attempt: z.int().min(1),
  /** Bearer token, good for this attempt only. */
  token: z.string(),
  device: deviceName,
  suite: suiteName,
  /** The baseline's suite: command, time limit, kind. */
  spec: manifestSuite,
  /** Heads to prepare, each with its own manifest's `prepare`. */
  heads: z.array(z.object({ head: sha1, prepare: manifest.shape.prepare })),
  legs: z.array(legSpec),
  rows: z.array(rowsPair).optional().describe('only where the sealed identity is logits<=X'),
});
export type JobSpec = z.infer<typeof jobSpec>;

/** POST /api/jobs/:job/attempts/:n/state */
export const attemptProgress = z.strictObject({ state: z.enum(['preparing', 'waiting-lock', 'running']), note: z.string().max(500) });

/** POST /api/jobs/:job/attempts/:n/failed: this attempt ends without results. `permanent`: no other attempt can do better. */
export const attemptFailure = z.strictObject({ class: z.enum(['transient', 'permanent']), reason: z.string().max(4000), next: z.string().max(1000) });

/**
 * PUT /api/jobs/:job/attempts/:n/legs/:index. A repeat with the same body is a no-op (200); with another body, 409.
 * `records` and `log` are text, size-capped at 16 MiB and 1 MiB by the agent. `log` is stdout, then stderr;
 * `measure.stdoutBytes` says where stdout ends.
 */
export const legPost = z.strictObject({ measure: legMeasure, records: z.string().nullable(), log: z.string() });
export type LegPost = z.infer<typeof legPost>;
export const legPostResponse = z.object({ accepted: z.boolean().describe('true once this attempt is the job’s accepted one'), duplicate: z.boolean() });
