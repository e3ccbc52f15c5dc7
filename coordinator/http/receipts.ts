import { Readable } from 'node:stream';
import { Hono } from 'hono';
import { runId } from '../protocol/ids.ts';
import { receiptOf } from '../receipt.ts';
import type { Service } from './app.ts';
import { parsed } from './wire.ts';

export function receiptRoutes({ store, blobs }: Service): Hono {
  return new Hono().get('/api/runs/:run/receipt', (context) => {
    const id = parsed(runId, context.req.param('run'), 'run');
    const archive = receiptOf(store.queries, blobs, id);
    return context.body(Readable.toWeb(archive) as ReadableStream, 200, {
      'content-type': 'application/x-tar',
      'content-disposition': `attachment; filename="fleet-${id}.tar"`,
    });
  });
}
