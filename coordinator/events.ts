/**
 * Every event of the coordinator, registered once. Ids and figures go into fields, never into the sentence.
 * The same names stand in the `events` table for what happened to runs and jobs.
 */
import { pino } from 'pino';

export const EVENTS = {
  'coordinator.listening': { level: 'info', message: 'the coordinator listens' },
  'coordinator.stopping': { level: 'info', message: 'the coordinator stops' },
  'request.failed': { level: 'error', message: 'a request hit a defect' },
  'redis.started': { level: 'info', message: 'redis-server runs' },
  'redis.exited': { level: 'warn', message: 'redis-server ended unasked and is started again' },
  'redis.unreachable': { level: 'warn', message: 'Redis does not answer' },
  'queue.error': { level: 'warn', message: 'a queue connection failed' },
  'queue.enqueue-failed': { level: 'warn', message: 'a job could not be put into Redis; the next reconciliation does it' },
  'queue.reconcile-failed': { level: 'warn', message: 'SQLite and Redis could not be reconciled' },
  'queue.requeued': { level: 'warn', message: 'an unfinished job was missing from Redis and was enqueued again' },
  'queue.stalled': { level: 'warn', message: 'an agent stopped renewing its job, which waits again' },
  'head.added': { level: 'info', message: 'the objects of a head arrived' },
  'run.submitted': { level: 'info', message: 'a run was sealed' },
  'figure.corrected': { level: 'info', message: 'a correction was appended to a figure' },
  'run.imported': { level: 'info', message: 'a receipt or bare records were imported' },
  'job.enqueued': { level: 'info', message: 'a job was put into its device queue' },
  'job.judged': { level: 'info', message: 'a verdict was stored' },
  'job.not-judged': { level: 'error', message: 'the legs are in, but the verdict could not be computed' },
  'job.failed': { level: 'warn', message: 'no attempt can succeed' },
  'device.registered': { level: 'info', message: 'an agent serves a device' },
  'attempt.opened': { level: 'info', message: 'an agent claimed a job' },
  'attempt.progress': { level: 'info', message: 'an attempt went on' },
  'attempt.superseded': { level: 'warn', message: 'a later attempt was opened' },
  'attempt.failed': { level: 'warn', message: 'an attempt ended without results' },
  'attempt.accepted': { level: 'info', message: 'an attempt posted its last leg first' },
} as const satisfies Record<string, { level: 'info' | 'warn' | 'error'; message: string }>;

export type EventName = keyof typeof EVENTS;
export type EventFields = Readonly<Record<string, string | number | boolean | null>>;

export interface Log {
  /** Writes one registered event as a JSON line on stderr. */
  event(name: EventName, fields?: EventFields, error?: unknown): void;
}

/** The log of a process; `level` is one of pino's, `silent` included. */
export function openLog(level: string): Log {
  const logger = pino({ level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }));
  return {
    event(name, fields = {}, error) {
      const { level: at, message } = EVENTS[name];
      logger[at]({ event: name, ...fields, ...(error === undefined ? {} : { err: error }) }, message);
    },
  };
}
