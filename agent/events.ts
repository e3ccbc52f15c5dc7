/** Every event that an agent logs, registered once: JSON lines on stderr. Ids and figures go into fields, never into the sentence. */
import { pino } from 'pino';

export const EVENTS = {
  'agent.started': { level: 'info', message: 'the agent serves its device' },
  'agent.stopping': { level: 'info', message: 'the agent stops' },
  'agent.superseded': { level: 'warn', message: 'another agent serves this device now; this one ends' },
  'agent.swept': { level: 'warn', message: 'processes that an earlier agent left behind were ended' },
  'coordinator.unreachable': { level: 'warn', message: 'the coordinator does not answer' },
  'coordinator.back': { level: 'info', message: 'the coordinator answers again' },
  'queue.error': { level: 'warn', message: 'the queue connection failed' },
  'queue.moved': { level: 'info', message: 'the queue lives in another Redis now' },
  'job.taken': { level: 'info', message: 'a job came from the queue' },
  'job.claimed': { level: 'info', message: 'an attempt was opened' },
  'job.declined': { level: 'info', message: 'the coordinator wants no more of this job' },
  'job.stopped': { level: 'warn', message: 'the attempt was stopped' },
  'job.failed': { level: 'warn', message: 'the attempt ended without results' },
  'job.done': { level: 'info', message: 'every leg of the attempt was posted' },
  'head.fetched': { level: 'info', message: 'the objects of a head arrived' },
  'head.checked-out': { level: 'info', message: 'a head has a worktree' },
  'head.removed': { level: 'info', message: 'an old worktree was removed' },
  'dependencies.seeded': { level: 'info', message: 'dependencies were copied from the running checkout' },
  'dependencies.installed': { level: 'info', message: 'dependencies were installed' },
  'lock.waiting': { level: 'info', message: 'somebody holds the GPU lock' },
  'lock.taken': { level: 'info', message: 'the GPU lock is held' },
  'leg.started': { level: 'info', message: 'a leg runs' },
  'leg.ended': { level: 'info', message: 'a leg ended' },
  'spool.posted': { level: 'info', message: 'a leg was posted' },
  'spool.kept': { level: 'warn', message: 'a leg could not be posted yet; it stays in the spool' },
  'spool.dropped': { level: 'warn', message: 'the coordinator wants this leg no more' },
  'spool.rejected': { level: 'error', message: 'the coordinator cannot read this leg; it is kept beside the spool' },
} as const satisfies Record<string, { level: 'info' | 'warn' | 'error'; message: string }>;

export type EventName = keyof typeof EVENTS;
export type EventFields = Readonly<Record<string, string | number | boolean | null>>;

export interface Log {
  /** Writes one registered event. */
  event(name: EventName, fields?: EventFields): void;
}

/** The log of one agent process; `level` is one of pino's, `silent` included. */
export function openLog(level: string, device: string): Log {
  const logger = pino({ level, base: { pid: process.pid, device }, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }));
  return {
    event(name, fields = {}) {
      const { level: at, message } = EVENTS[name];
      logger[at]({ event: name, ...fields }, message);
    },
  };
}
