import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { webRoutes } from '../../web/app.tsx';
import { summariseForecasts } from '../core/forecast-summary.ts';
import { API_ROUTES } from '../protocol/api.ts';
import { buildApp, type Service } from './app.ts';

const viewNothing = { schema: 1, unscored: [], ...summariseForecasts([]) } as const;
/** Routes only call what they are given once a request comes in, and none comes here. */
const pages = webRoutes({ run: () => null, runs: () => [], devices: () => [], forecasts: () => ({ ...viewNothing, unscored: [] }), renderMarkdown: () => '' });
const routesOf = (app: Hono): string[] =>
  [...new Set(app.routes.filter((route) => route.method !== 'ALL').map((route) => `${route.method} ${route.path}`))].toSorted();

it('serves the routes of protocol/api.ts and no other', () => {
  const app = buildApp({ origin: () => 'http://127.0.0.1:7420' } as Service, pages);
  expect(routesOf(app)).toEqual(API_ROUTES.map(([method, path]) => `${method} ${path}`).toSorted());
});

it('would show a route that is not in the table', () => {
  const app = buildApp(
    { origin: () => 'http://127.0.0.1:7420' } as Service,
    new Hono().get('/api/secret', (context) => context.text('')),
  );
  expect(routesOf(app)).toContain('GET /api/secret');
});
