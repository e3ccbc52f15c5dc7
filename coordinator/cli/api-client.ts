/** The only caller of the coordinator's HTTP API in the CLI. Replies are parsed once, here. */
import { createWriteStream, openAsBlob, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { z } from 'zod';
import { errorReply, FLEET_EXIT, type ErrorCode } from '../protocol/errors.ts';
import { CliError } from './cli-error.ts';
import type { Config } from './config.ts';

const EXIT_OF: Readonly<Record<ErrorCode, number>> = {
  'bad-request': FLEET_EXIT.usage,
  'unknown-head': FLEET_EXIT.usage,
  'no-manifest': FLEET_EXIT.usage,
  'bad-manifest': FLEET_EXIT.usage,
  'unknown-device': FLEET_EXIT.usage,
  'unknown-suite': FLEET_EXIT.usage,
  'not-found': FLEET_EXIT.usage,
  conflict: FLEET_EXIT.usage,
  gone: FLEET_EXIT.usage,
  'too-large': FLEET_EXIT.usage,
  forbidden: FLEET_EXIT.access,
  'no-device': FLEET_EXIT.infrastructure,
  unavailable: FLEET_EXIT.infrastructure,
  internal: FLEET_EXIT.infrastructure,
};

/** The coordinator did not answer at all; a caller that polls may try again. */
export class UnreachableError extends CliError {}

export class ApiClient {
  readonly url: string;
  readonly #from: string;

  constructor(config: Pick<Config, 'url'>) {
    this.url = config.url.value;
    this.#from = config.url.from;
  }

  /** GET, parsed. @throws CliError with the exit status that the refusal calls for. */
  async get<T extends z.ZodType>(route: string, schema: T): Promise<z.infer<T>> {
    return this.#parse(route, schema, await (await this.#send(route, { method: 'GET' })).text());
  }

  /** GET, verbatim. */
  async text(route: string): Promise<string> {
    return (await this.#send(route, { method: 'GET' })).text();
  }

  /** GET into a file, streamed. The file is there whole or not at all. */
  async download(route: string, file: string): Promise<void> {
    const reply = await this.#send(route, { method: 'GET' });
    const draft = `${file}.part`;
    try {
      await pipeline(Readable.fromWeb(reply.body as ReadableStream), createWriteStream(draft));
      renameSync(draft, file);
    } catch (cause) {
      rmSync(draft, { force: true });
      const own = (cause as NodeJS.ErrnoException).syscall !== undefined;
      const next = own ? 'name a file that you may write with --out' : 'see the log of the coordinator';
      throw new CliError(`${file} could not be written: ${(cause as Error).message}`, next, own ? FLEET_EXIT.usage : FLEET_EXIT.infrastructure, { cause });
    }
  }

  /** POST of a JSON body, parsed reply. */
  async post<T extends z.ZodType>(route: string, body: unknown, schema: T): Promise<z.infer<T>> {
    const reply = await this.#send(route, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
    return this.#parse(route, schema, await reply.text());
  }

  /** POST of a file, streamed. */
  async upload<T extends z.ZodType>(route: string, file: string, schema: T): Promise<z.infer<T>> {
    const body = await openAsBlob(file);
    const reply = await this.#send(route, { method: 'POST', body, headers: { 'content-type': 'application/octet-stream' } });
    return this.#parse(route, schema, await reply.text());
  }

  async #send(route: string, { headers = {}, ...init }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }): Promise<Response> {
    let reply: Response;
    try {
      // `x-fleet` is what a cross-site page cannot send without asking first; the coordinator demands it of every change.
      reply = await fetch(this.url + route, { ...init, headers: { ...headers, 'x-fleet': '1' } });
    } catch (cause) {
      throw new UnreachableError(`no coordinator answers at ${this.url} (${this.#from}): ${causeOf(cause)}`, 'fleet up', FLEET_EXIT.infrastructure, { cause });
    }
    if (reply.ok) return reply;
    const text = await reply.text();
    const parsed = errorReply.safeParse(parseJson(text));
    if (!parsed.success) {
      throw new CliError(
        `${init.method} ${this.url}${route} answered ${reply.status}, not as a fleet coordinator does`,
        `check the address (${this.#from})`,
        FLEET_EXIT.infrastructure,
      );
    }
    const { code, message, next } = parsed.data.error;
    throw new CliError(message, next, EXIT_OF[code]);
  }

  #parse<T extends z.ZodType>(route: string, schema: T, text: string): z.infer<T> {
    const parsed = schema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw new CliError(
      `${this.url}${route}: the reply is not as this fleet expects (${issue?.path.join('.')}: ${issue?.message}); the versions may differ`,
      'restart the coordinator from this checkout: fleet up',
      FLEET_EXIT.infrastructure,
    );
  }
}

/** The system's word for why a fetch failed, such as ECONNREFUSED. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
  return error instanceof Error ? error.message : String(error);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
