/** The whole HTTP surface: guard, one file a resource, pages. What routes exist is written in protocol/api.ts. */
import { Hono } from 'hono';
import type { Store } from '../../db/open.ts';
import type { BlobStore } from '../blobs.ts';
import type { Log } from '../events.ts';
import type { Heads } from '../heads/repository.ts';
import type { Judge } from '../judge-job.ts';
import type { Carrier } from '../queue/reconcile.ts';
import type { DeviceQueues } from '../queue/device-queues.ts';
import { Refusal } from '../refusal.ts';
import { blobRoutes } from './blobs.ts';
import { calibrationRoutes } from './calibrations.ts';
import { deviceRoutes } from './devices.ts';
import { forecastRoutes } from './forecasts.ts';
import { guard } from './guard.ts';
import { headRoutes } from './heads.ts';
import { healthRoutes } from './health.ts';
import { jobRoutes } from './jobs.ts';
import { importRoutes } from './imports.ts';
import { receiptRoutes } from './receipts.ts';
import { runRoutes } from './runs.ts';
import { replyRefusal } from './wire.ts';

/** What the routes call. */
export interface Service {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly heads: Heads;
  readonly queues: DeviceQueues;
  readonly carrier: Carrier;
  readonly judge: Judge;
  readonly log: Log;
  /** Where agents find Redis. */
  readonly redisUrl: string;
  /** Where this coordinator listens, such as http://127.0.0.1:7420. */
  readonly origin: () => string;
}

/** @param pages the web room's routes, mounted at /. */
export function buildApp(service: Service, pages: Hono): Hono {
  const app = new Hono();
  app.use(guard(service.origin));
  app.route('/', healthRoutes(service));
  app.route('/', headRoutes(service));
  app.route('/', runRoutes(service));
  app.route('/', receiptRoutes(service));
  app.route('/', importRoutes(service));
  app.route('/', calibrationRoutes(service));
  app.route('/', forecastRoutes(service));
  app.route('/', deviceRoutes(service));
  app.route('/', jobRoutes(service));
  app.route('/', blobRoutes(service));
  app.route('/', pages);
  app.notFound((context) =>
    replyRefusal(
      context,
      new Refusal('not-found', `there is nothing at ${context.req.method} ${context.req.path}`, 'the routes stand in coordinator/protocol/api.ts'),
    ),
  );
  app.onError((error, context) => {
    if (error instanceof Refusal) return replyRefusal(context, error);
    service.log.event('request.failed', { method: context.req.method, path: context.req.path }, error);
    return replyRefusal(context, new Refusal('internal', `the coordinator has a defect: ${error.message}`, 'see its log for the whole error'));
  });
  return app;
}
