/** The only caller of the coordinator. One place decides what an answer means: try again, give up, or go on. */
import { createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pRetry from 'p-retry';
import type { z } from 'zod';
import {
  attemptFailure,
  attemptProgress,
  heartbeatResponse,
  jobSpec,
  legPostResponse,
  registerResponse,
  type HeartbeatRequest,
  type JobSpec,
  type LegPost,
  type RegisterRequest,
} from '../coordinator/protocol/agent.ts';
import { errorReply } from '../coordinator/protocol/errors.ts';
import { MAX_BUNDLE_BYTES } from '../coordinator/protocol/heads.ts';
import { AttemptStopped } from './failure.ts';

const REQUEST_MS = 10_000;
const BUNDLE_MS = 600_000;

/** A request that got no answer (`status` 0) or a refusal. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly next: string;

  constructor(status: number, code: string, message: string, next: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.next = next;
  }

  /** The same request may succeed later: no answer, or none of a coordinator in order (`internal`), such as a proxy's while it is away. */
  get transient(): boolean {
    return this.status === 0 || this.status >= 500 || this.code === 'internal';
  }

  /** The attempt is over for the coordinator: judged, superseded or unknown. */
  get closed(): boolean {
    return !this.transient && [403, 404, 409].includes(this.status);
  }
}

/** Names an attempt and carries its token. */
export interface AttemptKey {
  job: string;
  attempt: number;
  token: string;
}

/**
 * Retries a request until it succeeds or is refused: 0.25 s, doubling, 5 s at most.
 * @throws ApiError when it is refused or `retries` are used up; AttemptStopped when `signal` fires.
 */
export async function untilAnswered<T>(
  request: () => Promise<T>,
  options: { signal?: AbortSignal; retries?: number; onFailure?: (error: Error) => void } = {},
): Promise<T> {
  const { signal } = options;
  try {
    return await pRetry(request, {
      retries: options.retries ?? Number.POSITIVE_INFINITY,
      minTimeout: 250,
      maxTimeout: 5000,
      factor: 2,
      randomize: true,
      shouldRetry: ({ error }) => error instanceof ApiError && error.transient,
      onFailedAttempt: ({ error }) => options.onFailure?.(error),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw new AttemptStopped(String(signal.reason));
    throw error;
  }
}

export class ApiClient {
  private readonly base: string;

  /** @param url the coordinator's, such as http://127.0.0.1:7420 */
  constructor(url: string) {
    this.base = url.replace(/\/+$/, '');
  }

  async register(device: string, body: RegisterRequest): Promise<z.infer<typeof registerResponse>> {
    return registerResponse.parse(await this.call('POST', `/api/devices/${device}/register`, body));
  }

  async heartbeat(device: string, body: HeartbeatRequest): Promise<z.infer<typeof heartbeatResponse>> {
    return heartbeatResponse.parse(await this.call('POST', `/api/devices/${device}/heartbeat`, body));
  }

  async claim(job: string, device: string, agent: string): Promise<JobSpec> {
    return jobSpec.parse(await this.call('POST', `/api/jobs/${job}/claim`, { device, agent }));
  }

  async state(key: AttemptKey, body: z.infer<typeof attemptProgress>): Promise<void> {
    await this.call('POST', `/api/jobs/${key.job}/attempts/${key.attempt}/state`, { ...body, note: body.note.slice(0, 500) }, key.token);
  }

  async failed(key: AttemptKey, body: z.infer<typeof attemptFailure>): Promise<void> {
    const capped = { class: body.class, reason: body.reason.slice(0, 4000), next: body.next.slice(0, 1000) };
    await this.call('POST', `/api/jobs/${key.job}/attempts/${key.attempt}/failed`, capped, key.token);
  }

  async postLeg(key: AttemptKey, index: number, body: LegPost): Promise<z.infer<typeof legPostResponse>> {
    return legPostResponse.parse(await this.call('PUT', `/api/jobs/${key.job}/attempts/${key.attempt}/legs/${index}`, body, key.token));
  }

  /** Streams a bundle of one head into a file. @param have commits that the caller has with all that they reach. */
  async downloadBundle(head: string, have: readonly string[], file: string): Promise<void> {
    const query = have.map((commit) => `have=${commit}`).join('&');
    const response = await this.fetch('GET', `/api/heads/${head}/bundle${query === '' ? '' : `?${query}`}`, {}, BUNDLE_MS);
    if (!response.ok) throw await refusal(response);
    let byteLength = 0;
    const counter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        byteLength += chunk.length;
        done(byteLength > MAX_BUNDLE_BYTES ? new Error(`the bundle of ${head} is over ${MAX_BUNDLE_BYTES} bytes`) : null, chunk);
      },
    });
    try {
      await pipeline(response.body === null ? Readable.from([]) : chunksOf(response.body), counter, createWriteStream(file, { mode: 0o600 }));
    } catch (cause) {
      throw new ApiError(0, 'unavailable', `the bundle of ${head} broke off: ${messageOf(cause)}`, 'nothing; it is fetched again', { cause });
    }
  }

  private async call(method: 'POST' | 'PUT', path: string, body: unknown, token?: string): Promise<unknown> {
    const headers: Record<string, string> = { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    const response = await this.fetch(method, path, { headers, body: JSON.stringify(body) }, REQUEST_MS);
    if (!response.ok) throw await refusal(response);
    const text = await response.text();
    return text === '' ? {} : (JSON.parse(text) as unknown);
  }

  private async fetch(method: string, path: string, init: { headers?: Record<string, string>; body?: string }, timeoutMs: number): Promise<Response> {
    try {
      return await fetch(this.base + path, {
        method,
        // x-fleet: a page of another origin cannot set it without a preflight, which the coordinator refuses.
        headers: { ...init.headers, 'x-fleet': '1' },
        ...(init.body === undefined ? {} : { body: init.body }),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      });
    } catch (cause) {
      throw new ApiError(0, 'unavailable', `${this.base} does not answer: ${messageOf(cause)}`, 'start the coordinator there: fleet up', { cause });
    }
  }
}

async function refusal(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const { error } = errorReply.parse(JSON.parse(text));
    return new ApiError(response.status, error.code, error.message, error.next);
  } catch {
    return new ApiError(
      response.status,
      'internal',
      `${response.url} answered ${response.status}: ${text.slice(0, 200)}`,
      'check --url: is a fleet coordinator there?',
    );
  }
}

/** fetch's body type and node:stream's differ in name only; iterating needs neither. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

/** fetch hides the reason in `cause`: "fetch failed" alone tells nothing. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause;
  if (cause instanceof AggregateError) return messageOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : error.message;
}
