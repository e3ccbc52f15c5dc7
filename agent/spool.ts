/**
 * Results on disk before they travel: `spool/JOB/ATTEMPT/INDEX.json`, fsynced, removed once the coordinator has answered for good.
 *
 * A file holds its attempt's token, so that another agent process can post what a killed one measured; hence mode 0600. Posting is
 * idempotent at the coordinator (job, attempt, index), so posting twice is harmless and losing the answer is too.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { legPost, type LegPost } from '../coordinator/protocol/agent.ts';
import { jobId } from '../coordinator/protocol/ids.ts';
import { ApiError, untilAnswered, type ApiClient, type AttemptKey } from './api-client.ts';
import type { Log } from './events.ts';
import { AttemptStopped } from './failure.ts';

const spoolFile = z.strictObject({ job: jobId, attempt: z.int().min(1), index: z.int().min(0), token: z.string(), post: legPost });

export class Spool {
  private readonly root: string;
  private readonly api: Pick<ApiClient, 'postLeg'>;
  private readonly log: Log;

  /** @param root the spool folder; made when absent. */
  constructor(root: string, api: Pick<ApiClient, 'postLeg'>, log: Log) {
    this.root = root;
    this.api = api;
    this.log = log;
  }

  /** Writes one leg's result; durable when this returns. */
  async write(key: AttemptKey, index: number, post: LegPost): Promise<void> {
    const folder = join(this.root, key.job, String(key.attempt));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${index}.json`);
    const partial = `${file}.partial`;
    const handle = await open(partial, 'w', 0o600);
    try {
      await handle.writeFile(JSON.stringify({ job: key.job, attempt: key.attempt, index, token: key.token, post }));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, file);
    for (const parent of [folder, join(this.root, key.job), this.root]) await syncFolder(parent);
  }

  /**
   * Tries to post what one attempt has in the spool, oldest leg first, and stops at the first that gets no answer (one retry, for a
   * connection that the other side had closed): the network must not keep a device waiting while it holds its lock.
   * @returns whether the coordinator answered.
   * @throws AttemptStopped when it wants no more of this attempt.
   */
  async tryPost(key: AttemptKey): Promise<boolean> {
    for (const file of await this.filesOf(key.job, String(key.attempt))) {
      const fate = await this.postFile(file, 1);
      if (fate === 'kept') return false;
      if (fate === 'dropped') throw new AttemptStopped('the coordinator wants no more of this attempt');
    }
    return true;
  }

  /** Posts what one attempt has in the spool, for as long as it takes. */
  async post(key: AttemptKey, signal?: AbortSignal): Promise<void> {
    for (const file of await this.filesOf(key.job, String(key.attempt))) await this.postFile(file, Number.POSITIVE_INFINITY, signal);
  }

  /** Posts everything that any attempt left, for as long as it takes: what an agent does when it starts. @returns how many files there were. */
  async postAll(signal?: AbortSignal): Promise<number> {
    let count = 0;
    for (const job of await list(this.root)) {
      for (const attempt of await list(join(this.root, job))) {
        for (const file of await this.filesOf(job, attempt)) {
          await this.postFile(file, Number.POSITIVE_INFINITY, signal);
          count++;
        }
      }
    }
    return count;
  }

  private async filesOf(job: string, attempt: string): Promise<string[]> {
    const folder = join(this.root, job, attempt);
    const names = (await list(folder)).filter((name) => /^\d+\.json$/.test(name));
    return names.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).map((name) => join(folder, name));
  }

  /** @returns `kept` when there was no answer within `retries`. @throws AttemptStopped when `signal` fires. */
  private async postFile(file: string, retries: number, signal?: AbortSignal): Promise<'posted' | 'kept' | 'dropped' | 'rejected'> {
    const parsed = spoolFile.safeParse(await readJson(file));
    if (!parsed.success) {
      await this.reject(file, z.prettifyError(parsed.error));
      return 'rejected';
    }
    const { post, ...entry } = parsed.data;
    const fields = { job: entry.job, attempt: entry.attempt, leg: entry.index };
    try {
      let told = false;
      const reply = await untilAnswered(() => this.api.postLeg(entry, entry.index, post), {
        retries,
        ...(signal === undefined ? {} : { signal }),
        onFailure: (error) => {
          if (!told) this.log.event('spool.kept', { ...fields, reason: error.message });
          told = true;
        },
      });
      this.log.event('spool.posted', { ...fields, accepted: reply.accepted, duplicate: reply.duplicate });
      await this.settle(file);
      return 'posted';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.transient) return 'kept';
      if (error.closed) {
        this.log.event('spool.dropped', { ...fields, reason: error.message });
        await this.settle(file);
        return 'dropped';
      }
      await this.reject(file, error.message);
      return 'rejected';
    }
  }

  private async settle(file: string): Promise<void> {
    await rm(file, { force: true });
    const attempt = join(file, '..');
    // Fails while other legs are there, which is what we want.
    await rmdir(attempt).catch(() => {});
    await rmdir(join(attempt, '..')).catch(() => {});
  }

  /** A file that no coordinator can read is evidence of a defect: kept, under a name that is not posted again. */
  private async reject(file: string, reason: string): Promise<void> {
    this.log.event('spool.rejected', { file, reason });
    await rename(file, `${file}.rejected`);
  }
}

async function list(folder: string): Promise<string[]> {
  return existsSync(folder) ? await readdir(folder) : [];
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return null;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
