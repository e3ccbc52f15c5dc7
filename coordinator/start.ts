/** Starts every part of the coordinator in order, and stops them in the reverse order. */
import { createAdaptorServer } from '@hono/node-server';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openStore } from '../db/open.ts';
import { webRoutes } from '../web/app.tsx';
import { openBlobs } from './blobs.ts';
import { renderMarkdown } from './core/report.ts';
import { viewDevices } from './devices.ts';
import type { Log } from './events.ts';
import { viewForecasts } from './forecasts.ts';
import { openHeads } from './heads/repository.ts';
import { buildApp } from './http/app.ts';
import { openJudge } from './judge-job.ts';
import { openDeviceQueues } from './queue/device-queues.ts';
import { openCarrier, type Carrier } from './queue/reconcile.ts';
import { startRedisServer } from './queue/redis-server.ts';
import { listRunSummaries, viewRun } from './run-view.ts';
import { takeStateDirectory } from './state-directory.ts';

export interface CoordinatorOptions {
  readonly state: string;
  /** 0: a free one. */
  readonly port: number;
  /** An ioredis URL; undefined: an own redis-server. */
  readonly redisUrl: string | undefined;
  readonly log: Log;
}

export interface Coordinator {
  readonly url: string;
  readonly state: string;
  /** Process id of its own redis-server. */
  redisPid(): number | undefined;
  stop(): Promise<void>;
}

/**
 * Takes the state directory, migrates, starts Redis, makes Redis carry what SQLite says is unfinished, then listens on loopback.
 * @throws Error, one line with the next command, when a part cannot start; the parts before it are stopped.
 */
export async function startCoordinator({ state, port, redisUrl, log }: CoordinatorOptions): Promise<Coordinator> {
  const undo: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const directory = takeStateDirectory(state);
    undo.push(() => directory.release());
    const store = openStore(directory.database);
    undo.push(() => store.close());
    const blobs = openBlobs(directory.blobs, directory.tmp);
    const heads = await openHeads(directory.heads, directory.tmp);
    const redis = redisUrl === undefined ? await startRedisServer(directory.redis, log) : null;
    if (redis) undo.push(() => redis.stop());
    let carrier: Carrier | undefined;
    const url = redis?.url ?? redisUrl!;
    const queues = await openDeviceQueues(url, log, () => void carrier?.reconcile());
    undo.push(() => queues.close());
    carrier = openCarrier(store, queues, log);
    const judge = openJudge(store, blobs, log);
    undo.push(() => judge.settle());
    await judge.judgeLeftover();
    await carrier.start();
    undo.push(() => carrier.stop());

    let origin = '';
    const pages = webRoutes({
      run: (id) => viewRun(store.queries, origin, id),
      runs: () => listRunSummaries(store.queries),
      devices: () => viewDevices(store.queries),
      forecasts: () => viewForecasts(store.queries),
      renderMarkdown,
    });
    const app = buildApp({ store, blobs, heads, queues, carrier, judge, log, redisUrl: url, origin: () => origin }, pages);
    const server = createAdaptorServer({ fetch: app.fetch }) as Server;
    await listen(server, port);
    undo.push(() => closeServer(server));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    directory.announce(origin);
    log.event('coordinator.listening', { url: origin, state: directory.path });
    return { url: origin, state: directory.path, redisPid: () => redis?.pid(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
    throw new Error(`port ${port} is taken by another program. next: choose another with --port N, or --port 0 for a free one`, { cause });
  }
}

/** Kept-alive connections must not hold the process up. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), 500);
  await closed;
  clearTimeout(timer);
}
