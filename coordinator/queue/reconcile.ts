/**
 * Makes Redis carry what SQLite says is unfinished. SQLite is the truth: a job that Redis lost, completed or failed while SQLite
 * has it unfinished is enqueued again under a new id. Runs at start, every 30 s, and whenever Redis is back.
 */
import type { Store } from '../../db/open.ts';
import { addEvent } from '../../db/queries/events.ts';
import { countEnqueued, findJob, listUnfinishedJobs, updateJob, type JobRow } from '../../db/queries/jobs.ts';
import { listDevices } from '../../db/queries/devices.ts';
import { isLive } from '../devices.ts';
import type { Log } from '../events.ts';
import type { DeviceQueues } from './device-queues.ts';

const RECONCILE_MS = 30_000;

export interface Carrier {
  /** Puts a job into Redis under a new id. Never throws: what fails now is done by the next reconciliation. */
  enqueue(job: string): Promise<void>;
  /** Takes the job that a replaced agent holds out of the device's queue and enqueues it anew. Call it before the new agent's worker starts. */
  takeOver(device: string): Promise<void>;
  reconcile(): Promise<void>;
  /** Reconciles now and every 30 s. */
  start(): Promise<void>;
  stop(): void;
}

export function openCarrier(store: Store, queues: DeviceQueues, log: Log): Carrier {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;

  const put = async (row: JobRow): Promise<void> => {
    const n = store.transaction((tx) => {
      const counted = countEnqueued(tx, row.id);
      addEvent(tx, { at: new Date().toISOString(), name: 'job.enqueued', run: row.run, job: row.id, fields: { n: counted } });
      return counted;
    });
    await queues.add(row.device, row.id, n);
    log.event('job.enqueued', { job: row.id, n });
  };

  const enqueue = async (id: string): Promise<void> => {
    const row = findJob(store.queries, id);
    if (!row || row.state === 'judged' || row.state === 'failed') return;
    await put(row).catch((error: unknown) => log.event('queue.enqueue-failed', { job: id }, error));
  };

  const pass = async (): Promise<void> => {
    const devices = listDevices(store.queries);
    for (const device of devices) await queues.ensure(device.name);
    // Redis may have lost the job of an agent that is at work on it; that agent's results count all the same.
    const atWork = new Set(devices.filter((device) => isLive(device)).map((device) => device.job));
    for (const row of listUnfinishedJobs(store.queries)) {
      if (row.acceptedAttempt !== null) continue;
      const carried = row.enqueued === 0 ? 'lost' : await queues.carried(row.device, row.id, row.enqueued);
      if (carried === 'lost' || carried === 'ended') {
        // Read again: it may have been finished while Redis was asked.
        const now = findJob(store.queries, row.id);
        if (!now || now.enqueued !== row.enqueued || now.acceptedAttempt !== null || now.state === 'failed') continue;
        if (row.enqueued > 0) log.event('queue.requeued', { job: row.id, carried });
        await put(now);
      }
      if (carried !== 'active' && row.state !== 'queued' && !atWork.has(row.id)) {
        const note =
          carried === 'waiting' ? 'its agent stopped answering; waiting for an agent of the device' : 'its agent ended without results; queued again';
        store.transaction((tx) => {
          const now = findJob(tx, row.id);
          if (now?.state === row.state && now.enqueued >= row.enqueued && now.updatedAt === row.updatedAt)
            updateJob(tx, row.id, { state: 'queued', note }, new Date().toISOString());
        });
      }
    }
  };

  const reconcile = async (): Promise<void> => {
    running ??= pass()
      .catch((error: unknown) => log.event('queue.reconcile-failed', {}, error))
      .finally(() => {
        running = null;
      });
    await running;
  };

  return {
    enqueue,
    async takeOver(device) {
      for (const row of listUnfinishedJobs(store.queries)) {
        if (row.device !== device || row.acceptedAttempt !== null || row.enqueued === 0) continue;
        try {
          if ((await queues.carried(device, row.id, row.enqueued)) !== 'active') continue;
          await queues.withdraw(device, row.id, row.enqueued);
        } catch (error) {
          log.event('queue.error', { job: row.id }, error);
          continue;
        }
        await enqueue(row.id);
      }
    },
    reconcile,
    async start() {
      await reconcile();
      timer = setInterval(() => void reconcile(), RECONCILE_MS);
    },
    stop: () => clearInterval(timer),
  };
}
