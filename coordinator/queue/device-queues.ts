/**
 * One BullMQ queue a device, `dev-DEVICE`. It carries job ids and nothing else; what a job is stands in SQLite.
 *
 * Only workers run BullMQ's stall check, and an agent that died is its queue's only worker, so the coordinator runs the check
 * for every queue with a worker that never takes a job.
 */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Log } from '../events.ts';
import { queueName } from '../protocol/ids.ts';

/** What became of a BullMQ job. `lost`: Redis does not know it. */
export type Carried = 'waiting' | 'active' | 'ended' | 'lost';

export interface DeviceQueues {
  /** Opens a device's queue, and sets again what Redis may have lost. */
  ensure(device: string): Promise<void>;
  /** Puts the `n`th BullMQ job of this job into its queue. The same (job, n) twice is one. */
  add(device: string, job: string, n: number): Promise<void>;
  carried(device: string, job: string, n: number): Promise<Carried>;
  /** Takes BullMQ jobs 1…n of this job out, even from an agent that is gone. */
  withdraw(device: string, job: string, n: number): Promise<void>;
  /** @throws when Redis does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** How often a queue is looked through for jobs whose agent no longer renews its lock (agents take locks of 15 s). */
const STALL_CHECK_MS = 5000;
const MINIMUM_REDIS = [6, 2] as const;
/** Longer than Redis ever takes. A queue that was opened while Redis is away would wait for it without end. */
const PATIENCE_MS = 5000;
/** BullMQ keeps ended jobs for people to look at. */
const KEPT = { age: 86_400, count: 2000 };

const idOf = (job: string, n: number): string => `${job}-a${n}`;
const retry = (tries: number): number => Math.min(250 * 2 ** tries, 3000);

/**
 * @param onReady called whenever the connection is up again, so that the caller reconciles at once.
 * @throws Error when Redis does not answer or is older than 6.2.
 */
export async function openDeviceQueues(url: string, log: Log, onReady: () => void): Promise<DeviceQueues> {
  // Commands fail at once while Redis is away: SQLite has the job, and the next reconciliation carries it.
  const connection = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, connectTimeout: 5000, retryStrategy: retry, lazyConnect: true });
  let refused: Error | null = null;
  const whileStarting = (error: Error): void => {
    refused = error;
  };
  connection.on('error', whileStarting);
  try {
    await connection.connect();
    await requireVersion(connection);
  } catch (cause) {
    connection.disconnect();
    throw cause instanceof OldRedis ? cause : unreachable(url, refused ?? (cause as Error));
  }
  connection.off('error', whileStarting).on('error', (error) => log.event('redis.unreachable', {}, error));
  connection.on('ready', onReady);

  const opened = new Map<string, { queue: Queue; checker: Worker }>();

  const open = async (device: string): Promise<Queue> => {
    const there = opened.get(device);
    if (there) return there.queue;
    const name = queueName(device);
    const queue = new Queue(name, { connection });
    const checker = new Worker(name, null, {
      connection: { url, maxRetriesPerRequest: null, retryStrategy: retry },
      autorun: false,
      stalledInterval: STALL_CHECK_MS,
      // A job may stall as often as its agent dies: attempts are counted in SQLite, not here.
      maxStalledCount: 1_000_000,
    });
    opened.set(device, { queue, checker });
    const failed = (error: Error): void => log.event('queue.error', { queue: name }, error);
    queue.on('error', failed);
    checker.on('error', failed);
    checker.on('stalled', (id) => log.event('queue.stalled', { queue: name, carried: id }));
    checker.startStalledCheckTimer().catch(failed);
    return queue;
  };

  return {
    ensure: (device) =>
      // Two agents of one device must never both hold a job; lost with Redis' data, hence set each time.
      inTime(async () => {
        await (await open(device)).setGlobalConcurrency(1);
      }),
    add: (device, job, n) =>
      inTime(async () => {
        await (await open(device)).add('job', { job }, { jobId: idOf(job, n), attempts: 1, removeOnComplete: KEPT, removeOnFail: KEPT });
      }),
    carried: (device, job, n) =>
      inTime(async () => {
        const state = await (await open(device)).getJobState(idOf(job, n));
        if (state === 'unknown') return 'lost';
        if (state === 'completed' || state === 'failed') return 'ended';
        return state === 'active' ? 'active' : 'waiting';
      }),
    withdraw: (device, job, n) =>
      inTime(async () => {
        const queue = await open(device);
        for (let k = 1; k <= n; k++) {
          // A job is not removed while its lock stands; the agent that held it is known to be gone or superseded.
          await connection.del(`${queue.toKey(idOf(job, k))}:lock`);
          await queue.remove(idOf(job, k));
        }
      }),
    ping: () =>
      inTime(async () => {
        await connection.ping();
      }),
    async close() {
      for (const { queue, checker } of opened.values()) {
        await checker.close(true);
        await queue.close();
      }
      connection.disconnect();
    },
  };
}

async function inTime<T>(work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

class OldRedis extends Error {}

function unreachable(url: string, cause: Error): Error {
  return new Error(`Redis at ${new URL(url).host} does not answer: ${cause.message}. next: start it, or unset REDIS_URL so that fleet starts its own`, {
    cause,
  });
}

async function requireVersion(connection: Redis): Promise<void> {
  const version = /redis_version:(\d+)\.(\d+)\.(\S+)/.exec(await connection.info('server'));
  const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
  if (major > MINIMUM_REDIS[0] || (major === MINIMUM_REDIS[0] && minor >= MINIMUM_REDIS[1])) return;
  throw new OldRedis(
    `Redis ${version?.slice(1).join('.') ?? 'of unknown version'} is older than ${MINIMUM_REDIS.join('.')}. next: install a later one, or unset REDIS_URL`,
  );
}
