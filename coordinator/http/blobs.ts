import { Hono } from 'hono';
import { findBlob } from '../../db/queries/blobs.ts';
import { sha256 } from '../protocol/ids.ts';
import { Refusal } from '../refusal.ts';
import type { Service } from './app.ts';
import { parsed } from './wire.ts';

export function blobRoutes({ store, blobs }: Service): Hono {
  return new Hono().get('/api/blobs/:sha256', async (context) => {
    const name = parsed(sha256, context.req.param('sha256'), 'sha256');
    if (!findBlob(store.queries, name)) throw new Refusal('not-found', `there is no file ${name}`, 'take the name from GET /api/runs/:run');
    // A log is a stranger's text: plain, never sniffed into something that runs.
    return context.text(await blobs.read(name), 200, { 'cache-control': 'private, max-age=31536000, immutable' });
  });
}
