import { Hono } from 'hono';
import { viewForecasts } from '../forecasts.ts';
import type { Service } from './app.ts';

export function forecastRoutes({ store }: Service): Hono {
  return new Hono().get('/api/forecasts', (context) => context.json(viewForecasts(store.queries)));
}
