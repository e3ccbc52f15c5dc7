import { Hono } from 'hono';
import { z } from 'zod';
import { addPairs } from '../add-pairs.ts';
import { correct } from '../correct.ts';
import { renderMarkdown } from '../core/report.ts';
import { renderCsv } from '../core/report-csv.ts';
import { measuredOf } from '../measured.ts';
import { runId } from '../protocol/ids.ts';
import type { MeasuredReply } from '../protocol/measured.ts';
import { addPairsRequest, correctRequest, submitRequest, type RunView, type SubmitResponse } from '../protocol/run.ts';
import { Refusal } from '../refusal.ts';
import { listRunSummaries, viewRun } from '../run-view.ts';
import { submitRun } from '../submit.ts';
import type { Service } from './app.ts';
import { parsed, readBody } from './wire.ts';

const reportFormat = z.enum(['markdown', 'json', 'csv']).default('markdown');

export function runRoutes({ store, heads, blobs, carrier, log, origin }: Service): Hono {
  const existingRun = (id: string): RunView => {
    const view = viewRun(store.queries, origin(), parsed(runId, id, 'run'));
    if (!view) throw new Refusal('not-found', `there is no run ${id}`, 'list runs with: fleet status');
    return view;
  };
  return new Hono()
    .post('/api/runs', async (context) => {
      const request = await readBody(context, submitRequest);
      const { run, jobs, sealed } = await submitRun(store, heads, carrier, log, request);
      return context.json({ run, url: `${origin()}/runs/${run}`, jobs, sealed } satisfies SubmitResponse, 201);
    })
    .post('/api/runs/measured', async (context) => {
      const request = await readBody(context, submitRequest);
      return context.json((await measuredOf(store, heads, blobs, origin(), request)) satisfies MeasuredReply);
    })
    .post('/api/runs/:run/pairs', async (context) => {
      const id = parsed(runId, context.req.param('run'), 'run');
      const { run, jobs, sealed } = await addPairs(store, heads, carrier, log, id, await readBody(context, addPairsRequest));
      return context.json({ run, url: `${origin()}/runs/${run}`, jobs, sealed } satisfies SubmitResponse, 201);
    })
    .post('/api/runs/:run/corrections', async (context) => {
      const id = context.req.param('run');
      const { figure, text } = await readBody(context, correctRequest);
      correct(store, log, existingRun(id), figure, text);
      return context.json(existingRun(id), 201);
    })
    .get('/api/runs', (context) => context.json(listRunSummaries(store.queries)))
    .get('/api/runs/:run', (context) => context.json(existingRun(context.req.param('run'))))
    .get('/api/runs/:run/report', (context) => {
      const format = parsed(reportFormat, context.req.query('format'), 'format');
      const view = existingRun(context.req.param('run'));
      if (format === 'json') return context.json(view);
      if (format === 'csv') return context.text(renderCsv(view), 200, { 'content-type': 'text/csv; charset=utf-8' });
      return context.text(renderMarkdown(view), 200, { 'content-type': 'text/markdown; charset=utf-8' });
    });
}
