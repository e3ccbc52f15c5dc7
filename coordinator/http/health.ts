import { Hono } from 'hono';
import { Refusal } from '../refusal.ts';
import type { Service } from './app.ts';

export function healthRoutes({ store, queues }: Service): Hono {
  return new Hono()
    .get('/livez', (context) => context.json({ ok: true }))
    .get('/readyz', async (context) => {
      try {
        store.probe();
      } catch (cause) {
        throw new Refusal('unavailable', `SQLite cannot be written: ${(cause as Error).message}`, 'look at the free space of the state directory', cause);
      }
      try {
        await queues.ping();
      } catch (cause) {
        throw new Refusal(
          'unavailable',
          `Redis does not answer: ${(cause as Error).message}`,
          'it is started again by itself; if it stays away, see the log',
          cause,
        );
      }
      return context.json({ ok: true });
    });
}
