import { Hono } from 'hono';
import type { z } from 'zod';
import { importReceipt, importRecords } from '../import.ts';
import { importRecordsRequest, type importResponse } from '../protocol/run.ts';
import { Refusal } from '../refusal.ts';
import type { Service } from './app.ts';
import { readBody } from './wire.ts';

/** Records of 16 MiB a file, with room for what JSON escapes. */
const MAX_RECORDS_BODY_BYTES = 200 * 1024 * 1024;

export function importRoutes({ store, blobs, log, origin }: Service): Hono {
  const reply = (run: string): z.input<typeof importResponse> => ({ run, url: `${origin()}/runs/${run}` });
  return new Hono()
    .post('/api/imports/receipts', async (context) => {
      const body = context.req.raw.body;
      if (!body) throw new Refusal('bad-request', 'the body is empty', 'send a receipt');
      return context.json(reply(await importReceipt(store, blobs, log, body)), 201);
    })
    .post('/api/imports/records', async (context) => {
      const request = await readBody(context, importRecordsRequest, MAX_RECORDS_BODY_BYTES);
      return context.json(reply(await importRecords(store, blobs, log, request)), 201);
    });
}
