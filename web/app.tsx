/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Pages: the runs and devices, one run, forecasts, and static files. Read-only; everything comes from the reader. */
import { Hono, type Context } from 'hono';
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import { runId } from '../coordinator/protocol/ids.ts';
import { Layout, type LayoutProps } from './layout.tsx';
import { ForecastsPage } from './pages/forecasts.tsx';
import { HomePage } from './pages/home.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { RunPage, runTitle } from './pages/run.tsx';
import type { WebReader } from './reader.ts';
import { staticFile } from './static-files.ts';

/** Nothing inline, nothing from elsewhere, no frame around it, no form out of it. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The page routes: GET `/`, `/runs/:run`, `/forecasts` and `/static/:file`. Mount with `app.route('/', webRoutes(reader))`.
 */
export function webRoutes(reader: WebReader): Hono {
  const app = new Hono();
  app.get('/', (c) => {
    const runs = reader.runs();
    return page(c, 200, { title: 'fleet: runs and devices', live: true }, <HomePage runs={runs} devices={reader.devices()} />);
  });
  app.get('/runs/:run', (c) => {
    const id = c.req.param('run');
    const view = runId.safeParse(id).success ? reader.run(id) : null;
    if (view === null) return page(c, 404, { title: 'fleet: no such run', live: false }, <NotFoundPage what={`run ${id.slice(0, 80)}`} />);
    return page(c, 200, { title: runTitle(view), live: !view.done }, <RunPage view={view} markdown={reader.renderMarkdown(view)} />);
  });
  app.get('/forecasts', (c) => page(c, 200, { title: 'fleet: forecasts', live: false }, <ForecastsPage summary={reader.forecasts()} />));
  app.get('/static/:file', (c) => {
    const file = staticFile(c.req.param('file'));
    if (file === undefined) return page(c, 404, { title: 'fleet: no such file', live: false }, <NotFoundPage what="file" />);
    secure(c);
    c.header('Cache-Control', c.req.query('v') === file.version ? 'public, max-age=31536000, immutable' : 'no-cache');
    return c.body(file.body, 200, { 'Content-Type': file.type });
  });
  return app;
}

function secure(c: Context): void {
  c.header('Content-Security-Policy', CONTENT_SECURITY_POLICY);
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Referrer-Policy', 'no-referrer');
}

function page(c: Context, status: 200 | 404, layout: Omit<LayoutProps, 'children'>, content: Child): Response | Promise<Response> {
  secure(c);
  c.header('Cache-Control', 'no-store');
  return c.html(html`<!doctype html>${<Layout {...layout}>{content}</Layout>}`, status);
}
