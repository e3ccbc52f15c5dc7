/** Parses what comes in and shapes errors that go out. Every reply that is no success is an errorReply. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import type { ErrorCode, ErrorReply } from '../protocol/errors.ts';
import { Refusal } from '../refusal.ts';

const STATUS: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  'bad-request': 400,
  'unknown-head': 404,
  'no-manifest': 422,
  'bad-manifest': 422,
  'unknown-device': 422,
  'unknown-suite': 422,
  'no-device': 422,
  'not-found': 404,
  conflict: 409,
  gone: 409,
  forbidden: 403,
  'too-large': 413,
  unavailable: 503,
  internal: 500,
};

export function replyRefusal(context: Context, refusal: Refusal): Response {
  const body: ErrorReply = { error: { code: refusal.code, message: refusal.message, next: refusal.next } };
  return context.json(body, STATUS[refusal.code]);
}

/** The request's body as text, counted while it streams in. @throws Refusal too-large. */
async function readText(context: Context, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let byteLength = 0;
  for await (const chunk of context.req.raw.body ?? []) {
    byteLength += chunk.length;
    if (byteLength > maxBytes) throw new Refusal('too-large', `the body is over ${maxBytes} bytes`, 'send less');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The request's body as JSON of this schema. @throws Refusal bad-request naming the key, or too-large. */
export async function readBody<S extends z.ZodType>(context: Context, schema: S, maxBytes = 1024 * 1024): Promise<z.output<S>> {
  const text = await readText(context, maxBytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Refusal('bad-request', `the body is not JSON: ${(cause as Error).message}`, 'send a JSON object', cause);
  }
  return parsed(schema, value, 'body');
}

/** A value of the path or query. @throws Refusal bad-request. */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 3).map((issue) => `${[what, ...issue.path.map(String)].join('.')}: ${issue.message}`);
  throw new Refusal('bad-request', issues.join('; '), 'the routes and their types stand in coordinator/protocol');
}

/** The bearer token, if one was sent. */
export function bearer(context: Context): string | null {
  return /^Bearer (\S+)$/.exec(context.req.header('authorization') ?? '')?.[1] ?? null;
}
