import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Hono } from 'hono';
import { z } from 'zod';
import { haveRequest, MAX_COMMITS, type bundleResponse, type haveResponse } from '../protocol/heads.ts';
import { sha1 } from '../protocol/ids.ts';
import { Refusal } from '../refusal.ts';
import type { Service } from './app.ts';
import { parsed, readBody } from './wire.ts';

const shas = z.array(sha1).max(MAX_COMMITS);

export function headRoutes({ heads, log }: Service): Hono {
  return new Hono()
    .post('/api/heads/have', async (context) => {
      const { commits } = await readBody(context, haveRequest);
      return context.json({ present: await heads.have(commits) } satisfies z.input<typeof haveResponse>);
    })
    .post('/api/heads/bundle', async (context) => {
      const wanted = parsed(shas.min(1, 'name at least one ?head=SHA'), context.req.queries('head') ?? [], 'head');
      const body = context.req.raw.body;
      if (!body) throw new Refusal('bad-request', 'the body is empty', 'send a git bundle');
      await heads.ingest(body, wanted);
      for (const head of wanted) log.event('head.added', { head });
      return context.json({ heads: wanted } satisfies z.input<typeof bundleResponse>);
    })
    .get('/api/heads/:sha/bundle', async (context) => {
      const head = parsed(sha1, context.req.param('sha'), 'sha');
      const path = await heads.bundle(head, parsed(shas, context.req.queries('have') ?? [], 'have'));
      // Nothing that the caller lacks: git makes no empty bundle.
      if (path === null) return context.body(null, 204);
      const file = await open(path, 'r');
      await rm(path);
      const { size } = await file.stat();
      return context.body(Readable.toWeb(file.createReadStream()) as ReadableStream, 200, {
        'content-type': 'application/octet-stream',
        'content-length': String(size),
      });
    });
}
