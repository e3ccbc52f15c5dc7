/** A submission: heads resolved, missing objects sent, the run created. Used by `fleet submit`, `fleet calibrate` and `fleet demo`. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ArmSyntaxError, parseArms, type Arm } from '../core/arms.ts';
import { bundleResponse, haveResponse, MAX_BUNDLE_BYTES, MAX_COMMITS } from '../protocol/heads.ts';
import { submitRequest, submitResponse, type SubmitRequest, type SubmitResponse } from '../protocol/run.ts';
import type { ApiClient } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { mergeHeads } from './merge.ts';
import { withMergeBase } from './merge-base.ts';
import { recentCommits, resolveArms, writeBundle, type Repository } from './repository.ts';

/** Reads `--heads`. @throws CliError (exit 2) naming the column, or asking for a second arm. */
export function readHeads(text: string): Arm[] {
  const example = 'fleet submit --heads main,HEAD or --heads "HEAD[qmm=scalar],HEAD[qmm=vec4]"';
  let arms: Arm[];
  try {
    arms = parseArms(text);
  } catch (error) {
    if (!(error instanceof ArmSyntaxError)) throw error;
    throw new CliError(`--heads, ${error.message.split('\n', 1)[0]}`, example, 2, { cause: error });
  }
  if (arms.length < 2) throw new CliError(`--heads names one arm, '${text}', and a run compares at least two`, example);
  return arms;
}

/** What to run, apart from the arms; as in POST /api/runs. */
export type RunOptions = Omit<SubmitRequest, 'arms' | 'key'>;

/**
 * Submits.
 * @throws CliError with the exit status that the refusal calls for; nothing was submitted then.
 */
export async function submitRun(client: ApiClient, repository: Repository, arms: readonly Arm[], options: RunOptions): Promise<SubmitResponse> {
  return client.post('/api/runs', await readySubmission(client, repository, arms, options), submitResponse);
}

interface MoreArms {
  /** Heads whose merge is one more arm; none: no such arm. */
  readonly merge?: readonly string[] | undefined;
  /** The merge base of the heads is measured too. */
  readonly mergeBase?: boolean | undefined;
}

/**
 * A submission that only has to be posted: heads resolved and sent.
 * @throws CliError with the exit status that the refusal calls for.
 */
export async function readySubmission(
  client: ApiClient,
  repository: Repository,
  arms: readonly Arm[],
  options: RunOptions,
  more: MoreArms = {},
): Promise<SubmitRequest> {
  const request: SubmitRequest = { ...options, ...(await sendArms(client, repository, arms, more)), key: randomUUID() };
  assertSendable(request);
  return request;
}

/** Resolves arms, and sends what the coordinator lacks of them. @throws CliError as `readySubmission`. */
export async function sendArms(
  client: ApiClient,
  repository: Repository,
  arms: readonly Arm[],
  more: MoreArms = {},
): Promise<Pick<SubmitRequest, 'arms' | 'mergeBase'>> {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'fleet-send-'));
  try {
    const resolved = resolveArms(repository, arms);
    const merged = more.merge === undefined || more.merge.length === 0 ? null : mergeHeads(repository, more.merge, scratch);
    const named = merged === null ? resolved : [...resolved, merged.arm];
    const source = merged?.repository ?? repository;
    const all = more.mergeBase ? withMergeBase(source, named) : { arms: named };
    await sendHeads(client, source, [...new Set(all.arms.map((arm) => arm.head))], scratch);
    return all;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What the coordinator would refuse in the words of its JSON. @throws CliError (exit 2) in those of the command line. */
function assertSendable(request: SubmitRequest): void {
  const issue = submitRequest.safeParse(request).error?.issues[0];
  if (issue === undefined) return;
  const [part = '', at] = issue.path;
  const which = part === 'arms' && typeof at === 'number' ? `arm ${at + 1}` : part === 'arms' ? '--heads' : `--${String(part)}`;
  throw new CliError(`${which}: ${issue.message}`, 'fleet submit --help');
}

/** Sends the objects of `heads` that the coordinator lacks, cut at the commits that it has. */
async function sendHeads(client: ApiClient, repository: Repository, heads: readonly string[], scratch: string): Promise<void> {
  const { present } = await client.post('/api/heads/have', { commits: recentCommits(repository, heads, MAX_COMMITS) }, haveResponse);
  const missing = heads.filter((head) => !present.includes(head));
  if (missing.length === 0) return;
  const file = writeBundle(repository, missing, present, scratch);
  if (file === null) return;
  const bytes = statSync(file).size;
  if (bytes > MAX_BUNDLE_BYTES) {
    throw new CliError(
      `the bundle of ${repository.name} has ${bytes} bytes, and the coordinator takes ${MAX_BUNDLE_BYTES}`,
      'submit an older head first, so that less is new',
    );
  }
  await client.upload(`/api/heads/bundle?${missing.map((head) => `head=${head}`).join('&')}`, file, bundleResponse);
}
