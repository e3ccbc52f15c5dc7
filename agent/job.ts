/**
 * One attempt of one job, from claim to last post.
 *
 *   claim → prepare heads (no lock) → wait for the lock → preflight → legs in order → give the lock back → post what is left
 *
 * The lock is held for the whole series, so that no leg of it is measured beside somebody else's work; nothing that waits for the
 * network happens inside, except one try to post after each leg.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobSpec } from '../coordinator/protocol/agent.ts';
import { endsSeries } from '../coordinator/protocol/states.ts';
import type { AdapterRecord } from '../engine/protocol.ts';
import type { ActivityBoard } from './activity.ts';
import { ApiError, untilAnswered, type ApiClient } from './api-client.ts';
import type { Dependencies } from './dependencies.ts';
import type { Log } from './events.ts';
import { AttemptFailure, AttemptStopped } from './failure.ts';
import type { Heads } from './heads.ts';
import { finishLeg, prepareLeg } from './leg.ts';
import { LogitsRows } from './logits-rows.ts';
import { readMachineState } from './machine-state.ts';
import { dropPageCache } from './page-cache.ts';
import { preflight } from './preflight.ts';
import { prepareHead } from './prepare.ts';
import type { Spool } from './spool.ts';
import { removeOldLegs, type StateFolder } from './state-folder.ts';
import { Supervisor } from './supervisor-client.ts';

/** Everything a job needs that outlives it. */
export interface JobContext {
  api: ApiClient;
  agent: string;
  device: string;
  adapter: AdapterRecord;
  lockPath: string;
  /** Drop the page cache before each leg. */
  dropCaches: boolean;
  checkout: string;
  state: StateFolder;
  heads: Heads;
  dependencies: Dependencies;
  spool: Spool;
  board: ActivityBoard;
  log: Log;
}

/** How a job left this agent; what BullMQ keeps of it. The results themselves never travel through Redis. */
export type JobEnd = 'posted' | 'declined' | 'failed' | 'stopped';

/** Aborts with this reason when the agent ends; the attempt is then handed back at once instead of being missed first. */
export const AGENT_STOPS = 'the agent was stopped';

/** Runs one attempt. Failures of the attempt are posted, not thrown. */
export async function runJob(job: string, context: JobContext, signal: AbortSignal): Promise<JobEnd> {
  const { api, log, board } = context;
  log.event('job.taken', { job });
  let spec: JobSpec;
  try {
    spec = await untilAnswered(() => api.claim(job, context.device, context.agent), { signal });
  } catch (error) {
    if (signal.aborted) return 'stopped';
    if (!(error instanceof ApiError)) throw error;
    log.event('job.declined', { job, reason: error.message });
    return 'declined';
  }
  log.event('job.claimed', { job, attempt: spec.attempt, legs: spec.legs.length });
  try {
    await runAttempt(spec, context, signal);
    log.event('job.done', { job, attempt: spec.attempt });
    return 'posted';
  } catch (error) {
    return await endAttempt(spec, error, context, signal);
  } finally {
    board.idle();
  }
}

async function endAttempt(spec: JobSpec, error: unknown, { api, log }: JobContext, signal: AbortSignal): Promise<JobEnd> {
  const fields = { job: spec.job, attempt: spec.attempt };
  if (signal.aborted || error instanceof AttemptStopped) {
    const reason = signal.aborted ? String(signal.reason) : messageOf(error);
    log.event('job.stopped', { ...fields, reason });
    if (reason === AGENT_STOPS) {
      const body = { class: 'transient', reason, next: 'start the agent again; the job waits for it' } as const;
      await untilAnswered(() => api.failed(spec, body), { retries: 1 }).catch(() => {});
    }
    return 'stopped';
  }
  const failure =
    error instanceof AttemptFailure
      ? error
      : new AttemptFailure('transient', `the agent failed: ${messageOf(error)}`, 'see the agent’s log on that host', {
          cause: error,
        });
  log.event('job.failed', {
    ...fields,
    class: failure.class,
    reason: failure.message,
    stack: failure.cause instanceof Error ? (failure.cause.stack ?? '') : '',
  });
  try {
    await untilAnswered(() => api.failed(spec, { class: failure.class, reason: failure.message, next: failure.next }), { signal });
  } catch (refused) {
    if (!(refused instanceof ApiError) && !signal.aborted) throw refused;
  }
  return 'failed';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function runAttempt(spec: JobSpec, context: JobContext, signal: AbortSignal): Promise<void> {
  const { state, board, log, spool, heads } = context;
  const marker = `${state.id}/${spec.job}/${spec.attempt}`;
  board.set('preparing', spec.job);
  await heads.removeOld(spec.heads.map(({ head }) => head));
  await removeOldLegs(state.legs);
  const worktrees = new Map<string, string>();
  for (const request of spec.heads) {
    await tell(spec, context, 'preparing', `head ${request.head.slice(0, 12)}`);
    const where = { heads, dependencies: context.dependencies, scratchRoot: state.scratchRoot, marker, drivers: context.adapter, signal };
    worktrees.set(request.head, await prepareHead(request, where));
  }

  const supervisor = Supervisor.start({
    checkout: context.checkout,
    job: spec.job,
    marker,
    onStarted: (leg, pid) => log.event('leg.started', { job: spec.job, attempt: spec.attempt, leg, pid }),
  });
  const stop = (): void => void supervisor.close();
  signal.addEventListener('abort', stop);
  try {
    if (signal.aborted) throw new AttemptStopped(String(signal.reason));
    await waitForLock(spec, context, supervisor);
    await mkdir(state.legs, { recursive: true });
    await preflight(context.adapter, state.legs);
    await runLegs(spec, context, supervisor, worktrees, marker);
  } finally {
    signal.removeEventListener('abort', stop);
    await supervisor.close();
  }
  await spool.post(spec, signal);
}

async function waitForLock(spec: JobSpec, context: JobContext, supervisor: Supervisor): Promise<void> {
  const { board, log, lockPath } = context;
  let told = false;
  await supervisor.lock(lockPath, (holder) => {
    board.set('waiting-lock', spec.job, { lockHolder: holder });
    log.event('lock.waiting', { job: spec.job, lock: lockPath, holder });
    // Once: later changes of the holder travel with the heartbeats.
    if (!told) void tell(spec, context, 'waiting-lock', holder === null ? `${lockPath} is locked` : `${lockPath} is locked by ${holder}`).catch(() => {});
    told = true;
  });
  log.event('lock.taken', { job: spec.job, lock: lockPath });
  board.set('running', spec.job);
  await tell(spec, context, 'running', '');
}

async function runLegs(spec: JobSpec, context: JobContext, supervisor: Supervisor, worktrees: ReadonlyMap<string, string>, marker: string): Promise<void> {
  const { board, log, spool, state, adapter } = context;
  let answering = true;
  const rows = new LogitsRows(spec.rows ?? []);
  for (const leg of spec.legs.toSorted((a, b) => a.index - b.index)) {
    const worktree = worktrees.get(leg.head);
    if (worktree === undefined)
      throw new AttemptFailure('permanent', `leg ${leg.index} wants head ${leg.head}, which the job does not list`, 'report this: the coordinator planned it');
    board.set('running', spec.job, { leg: leg.index });
    const kept = join(state.legs, spec.job, String(spec.attempt), String(leg.index));
    const prepared = await prepareLeg(spec, leg, { worktree, kept, scratchRoot: state.scratchRoot, marker, withRows: rows.wants(leg.index) }, adapter);
    const pageCache = context.dropCaches ? await dropPageCache() : 'kept';
    const before = { ...(await readMachineState(adapter)), pageCache };
    const report = await supervisor.runLeg(prepared.command);
    const post = await finishLeg(spec, prepared, report, { before, after: await readMachineState(adapter) });
    if (prepared.logitsFile !== null) {
      const compared = await rows.ended(leg.index, prepared.logitsFile, post.records);
      if (compared.length > 0) post.measure.rows = compared;
    }
    const { outcome, exitCode, wallMs } = post.measure;
    await spool.write(spec, leg.index, post);
    // Once it is on disk: who hears of it may end this process.
    log.event('leg.ended', { job: spec.job, attempt: spec.attempt, leg: leg.index, outcome, exitCode, wallMs });
    if (answering) answering = await spool.tryPost(spec);
    // Every other leg of that arm would be refused alike, and a series with a hole is void.
    if (endsSeries(spec.spec.kind, outcome)) return;
  }
}

/** Posts a state. The coordinator being away does not stop a job; its saying that the attempt is over does. */
async function tell(spec: JobSpec, { api, log }: JobContext, state: 'preparing' | 'waiting-lock' | 'running', note: string): Promise<void> {
  try {
    await untilAnswered(() => api.state(spec, { state, note }), { retries: 2 });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.transient) log.event('coordinator.unreachable', { reason: error.message });
    else if (error.closed) throw new AttemptStopped(`the coordinator ended the attempt: ${error.message}`);
    else throw new AttemptFailure('permanent', `the coordinator refuses the state "${state}": ${error.message}`, error.next);
  }
}
