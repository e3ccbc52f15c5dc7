/** Follows a run to its end: one line a job on stderr whenever it changes. The run itself needs nobody to follow it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { deviceView } from '../protocol/agent.ts';
import { FLEET_EXIT } from '../protocol/errors.ts';
import { runView, type RunView } from '../protocol/run.ts';
import { UnreachableError, type ApiClient } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { jobLine } from './job-line.ts';
import { progress } from './output.ts';

const POLL_MS = 500;
/** A coordinator that restarts is back well within this; its agents go on meanwhile. */
const PATIENCE_MS = 60_000;

export interface FollowOptions {
  /** Give up after this long; the run goes on. */
  readonly timeoutS?: number | undefined;
  /** Aborted when the caller must stop (the demo's clean-up). */
  readonly signal?: AbortSignal;
}

/**
 * Polls until every job is judged or failed.
 * @throws CliError (exit 124) on the time-out, (exit 5) when the coordinator stays away, and what the signal carries.
 */
export async function followRun(client: ApiClient, run: string, options: FollowOptions = {}): Promise<RunView> {
  const shown = new Map<string, string>();
  const started = Date.now();
  let answeredAt = started;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      const [view, devices] = await Promise.all([client.get(`/api/runs/${run}`, runView), client.get('/api/devices', z.array(deviceView))]);
      answeredAt = Date.now();
      for (const job of view.jobs) {
        const line = jobLine(
          job,
          devices.find((entry) => entry.device === job.device),
        );
        if (shown.get(job.job) !== line) progress(`${elapsed(started)}  ${job.device} ${job.suite}: ${line}`);
        shown.set(job.job, line);
      }
      if (view.done) return view;
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      if (Date.now() - answeredAt > PATIENCE_MS)
        throw new CliError(error.message, `fleet up, then fleet watch ${run}`, FLEET_EXIT.infrastructure, { cause: error });
    }
    if (options.timeoutS !== undefined && Date.now() - started > options.timeoutS * 1000) {
      throw new CliError(`${run} is not done after ${options.timeoutS} s; it goes on`, `fleet watch ${run}`, FLEET_EXIT.timeout);
    }
    await sleep(POLL_MS);
  }
}

/** Lets Ctrl-C end a waiting command without touching the run. */
export function detachOnInterrupt(run: string): void {
  process.once('SIGINT', () => {
    progress(`detached: ${run} goes on. next: fleet watch ${run}`);
    process.exit(FLEET_EXIT.interrupted);
  });
}

function elapsed(since: number): string {
  const seconds = Math.floor((Date.now() - since) / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, '0')}`;
}
