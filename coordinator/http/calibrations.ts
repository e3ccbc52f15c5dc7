import { Hono } from 'hono';
import { calibrate } from '../calibrate.ts';
import { viewCalibrations } from '../calibrations.ts';
import { calibrateRequest } from '../protocol/calibration.ts';
import type { SubmitResponse } from '../protocol/run.ts';
import type { Service } from './app.ts';
import { readBody } from './wire.ts';

export function calibrationRoutes({ store, heads, carrier, log, origin }: Service): Hono {
  return new Hono()
    .get('/api/calibrations', (context) => context.json(viewCalibrations(store.queries)))
    .post('/api/calibrations', async (context) => {
      const { run, jobs, sealed } = await calibrate(store, heads, carrier, log, await readBody(context, calibrateRequest));
      return context.json({ run, url: `${origin()}/runs/${run}`, jobs, sealed } satisfies SubmitResponse, 201);
    });
}
