import { Hono } from 'hono';
import type { z } from 'zod';
import { recordHeartbeat, registerDevice, viewDevices } from '../devices.ts';
import { heartbeatRequest, registerRequest, type heartbeatResponse, type registerResponse } from '../protocol/agent.ts';
import { deviceName, queueName } from '../protocol/ids.ts';
import type { Service } from './app.ts';
import { parsed, readBody } from './wire.ts';

export function deviceRoutes({ store, queues, carrier, log, redisUrl }: Service): Hono {
  return new Hono()
    .get('/api/devices', (context) => context.json(viewDevices(store.queries)))
    .post('/api/devices/:device/register', async (context) => {
      const device = parsed(deviceName, context.req.param('device'), 'device');
      const takesOver = registerDevice(store, log, device, await readBody(context, registerRequest));
      // The agent is served by SQLite; a Redis that is away now is set right by the next reconciliation.
      await queues.ensure(device).catch((error: unknown) => log.event('queue.error', { device }, error));
      if (takesOver) await carrier.takeOver(device);
      return context.json({ queue: queueName(device), redis: redisUrl } satisfies z.input<typeof registerResponse>);
    })
    .post('/api/devices/:device/heartbeat', async (context) => {
      const device = parsed(deviceName, context.req.param('device'), 'device');
      return context.json(recordHeartbeat(store, device, await readBody(context, heartbeatRequest)) satisfies z.input<typeof heartbeatResponse>);
    });
}
