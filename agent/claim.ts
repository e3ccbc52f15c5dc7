/**
 * Takes jobs from the device's queue, one at a time.
 *
 * BullMQ only carries: a job's payload is its id, its result a word. The lock of 15 s is what tells the coordinator, which runs the
 * stall check, that this agent died; losing it (Redis away) does not stop a leg, since the attempt's number decides what counts.
 */
import { Worker } from 'bullmq';
import { z } from 'zod';
import { jobId } from '../coordinator/protocol/ids.ts';
import type { Log } from './events.ts';

const LOCK_MS = 15_000;
const CLOSE_MS = 10_000;

const payload = z.object({ job: jobId });

/** The queue as the coordinator named it at registration. */
export interface QueueAddress {
  queue: string;
  /** ioredis URL. */
  redis: string;
}

export interface Claimer {
  address: QueueAddress;
  /** Takes no more jobs, waits for the running one (ten seconds at most), disconnects. */
  close(): Promise<void>;
}

/** Starts taking jobs; `run` gets one id at a time. */
export function startClaiming(address: QueueAddress, run: (job: string) => Promise<string>, log: Log): Claimer {
  const worker = new Worker(
    address.queue,
    // Three named parameters: BullMQ looks at the function's length before it passes a signal. Cancels come by heartbeat, so it is not used.
    async (job, _token, _signal) => await run(payload.parse(job.data).job),
    {
      connection: {
        url: address.redis,
        // With BullMQ's own settings a job that outlives an outage of Redis is recorded as failed, and a black hole is never left
        // (measured: notes/queue.md section 1).
        maxRetriesPerRequest: null,
        socketTimeout: 15_000,
        retryStrategy: (tries: number) => Math.min(250 * 2 ** tries, 3000),
      },
      concurrency: 1,
      lockDuration: LOCK_MS,
      skipStalledCheck: true,
    },
  );
  worker.on('error', (error) => log.event('queue.error', { reason: error.message }));
  worker.on('failed', (job, error) => log.event('queue.error', { reason: error.message, carried: job?.id ?? null }));
  return {
    address,
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const inTime = await Promise.race([worker.close().then(() => true), new Promise<false>((done) => (timer = setTimeout(() => done(false), CLOSE_MS)))]);
      clearTimeout(timer);
      if (!inTime) await Promise.race([worker.close(true), new Promise((done) => setTimeout(done, 1000))]);
    },
  };
}
