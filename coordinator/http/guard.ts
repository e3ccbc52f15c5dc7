/**
 * Keeps other web sites out of a coordinator on loopback. A Host allow-list stops DNS rebinding; a header of our own on every
 * request that changes something stops cross-site posts, since a browser asks first before it sends one.
 */
import type { MiddlewareHandler } from 'hono';
import { Refusal } from '../refusal.ts';

/** @param origin where the coordinator listens, such as http://127.0.0.1:7420; known only once it does. */
export function guard(origin: () => string): MiddlewareHandler {
  return async (context, next) => {
    const { port } = new URL(origin());
    const host = context.req.header('host') ?? '';
    if (![`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(host)) {
      throw new Refusal('forbidden', `host ${JSON.stringify(host.slice(0, 100))} is not this coordinator`, `use ${origin()}`);
    }
    if (!['GET', 'HEAD'].includes(context.req.method) && context.req.header('x-fleet') !== '1') {
      throw new Refusal('forbidden', 'a request that changes something needs the header x-fleet: 1', 'use the fleet command, or send the header');
    }
    await next();
    context.res.headers.set('x-content-type-options', 'nosniff');
    if (!context.res.headers.has('content-security-policy')) context.res.headers.set('content-security-policy', "default-src 'none'");
  };
}
