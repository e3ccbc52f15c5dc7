/**
 * The agent of one device. Wiring only: what happens is in claim.ts (jobs), heartbeat.ts, job.ts (an attempt).
 *
 *   node --import tsx agent/main.ts --url URL --device NAME --adapter PATTERN [--lock PATH] [--state DIR] [--allow-software] [--drop-caches]
 *
 * Exit status: 0 stopped or superseded, 2 usage, 5 infrastructure (no such adapter, no coordinator, another agent on this state).
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { FLEET_EXIT } from '../coordinator/protocol/errors.ts';
import { ActivityBoard } from './activity.ts';
import { ApiClient, ApiError, untilAnswered } from './api-client.ts';
import { parseArguments, UsageError, USAGE, type AgentArguments } from './arguments.ts';
import { startClaiming, type Claimer } from './claim.ts';
import { Dependencies, removeTree } from './dependencies.ts';
import { openLog, type Log } from './events.ts';
import { AttemptStopped } from './failure.ts';
import { Heads } from './heads.ts';
import { beat, sayStopped } from './heartbeat.ts';
import { chooseAdapter, listAdapters, NoAdapter } from './inventory.ts';
import { AGENT_STOPS, runJob, type JobContext } from './job.ts';
import { describeLockHolder } from './lock-holder.ts';
import { tryLock } from './lock.ts';
import { sweepMarked } from './marker-sweep.ts';
import { Spool } from './spool.ts';
import { openStateFolder, type StateFolder } from './state-folder.ts';

const CHECKOUT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const SUPERSEDED = 'another agent serves the device now';
/** A superseded agent learns it from its next heartbeat and ends its leg first. */
const TAKE_OVER_MS = 20_000;
/** About 8 s: long enough for a coordinator that starts beside the agent, short enough for a person who mistyped the URL. */
const REGISTER_RETRIES = 5;

/** Something outside this program that a person has to put right. */
class Unavailable extends Error {
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

async function serve(options: AgentArguments, log: Log): Promise<void> {
  const adapter = chooseAdapter(await listAdapters(CHECKOUT), options.adapter, options.allowSoftware);
  const lockPath = options.lock ?? options.defaultLock(adapter.evidence);
  const state = openStateFolder(options.state, options.device);
  const api = new ApiClient(options.url);
  const agent = randomUUID();
  const about = { agent, adapter: adapter.name, driver: adapter.driver, evidence: adapter.evidence, lockPath, host: hostname(), pid: process.pid };
  const register = (): ReturnType<ApiClient['register']> => api.register(options.device, about);

  let told = false;
  const onFailure = (error: Error): void => {
    if (!told) log.event('coordinator.unreachable', { reason: error.message });
    told = true;
  };
  const address = await untilAnswered(register, { retries: REGISTER_RETRIES, onFailure });

  const board = new ActivityBoard();
  const spool = new Spool(state.spool, api, log);
  const context: JobContext = {
    api,
    agent,
    device: options.device,
    adapter,
    lockPath,
    dropCaches: options.dropCaches,
    checkout: CHECKOUT,
    state,
    spool,
    board,
    log,
    heads: new Heads(state.own, api, log),
    dependencies: new Dependencies(state.deps, CHECKOUT, log),
  };

  const ending = new AbortController();
  let running: { job: string; stop: AbortController } | null = null;
  let claimer: Claimer | null = null;
  const run = async (job: string): Promise<string> => {
    const stop = new AbortController();
    if (ending.signal.aborted) stop.abort(ending.signal.reason);
    running = { job, stop };
    try {
      return await runJob(job, context, stop.signal);
    } finally {
      running = null;
    }
  };
  const end = (reason: string): void => {
    ending.abort(reason);
    running?.stop.abort(reason);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => end(AGENT_STOPS));

  const beating = beat(
    options.device,
    api,
    {
      now: () => ({ agent, ...board.now }),
      onCancel: (jobs) => {
        if (running !== null && jobs.includes(running.job)) running.stop.abort('the coordinator cancelled the job');
      },
      onSuperseded: () => {
        log.event('agent.superseded');
        end(SUPERSEDED);
      },
      onReturn: async () => {
        const now = await register();
        if (claimer === null || (now.redis === claimer.address.redis && now.queue === claimer.address.queue)) return;
        log.event('queue.moved');
        const old = claimer;
        claimer = startClaiming(now, run, log);
        await old.close();
      },
    },
    log,
    ending.signal,
  );
  // A defect in the loop must not leave an agent that works unseen.
  beating.catch((error: Error) => end(error.message));

  const own = await takeState(state, ending.signal);
  try {
    await clearLeftovers(state, log);
    const leftovers = spool.postAll(ending.signal);
    leftovers.catch((error: unknown) => end(String(error))); // as above; nothing but a defect or the end itself gets here
    if (!ending.signal.aborted) claimer = startClaiming(address, run, log);
    log.event('agent.started', { agent, adapter: adapter.name, evidence: adapter.evidence, driver: adapter.driver, lock: lockPath, queue: address.queue });
    await new Promise<void>((done) => {
      if (ending.signal.aborted) done();
      ending.signal.addEventListener('abort', () => done());
    });
    log.event('agent.stopping', { reason: String(ending.signal.reason) });
    await claimer?.close();
    await leftovers.catch((error: unknown) => {
      if (!(error instanceof AttemptStopped)) throw error;
    });
    await beating;
    await sayStopped(options.device, agent, api);
  } finally {
    own?.release();
  }
}

/** One live agent per state folder. After taking a device over, the old one needs a moment to end. */
async function takeState(state: StateFolder, signal: AbortSignal): Promise<ReturnType<typeof tryLock>> {
  const until = Date.now() + TAKE_OVER_MS;
  while (!signal.aborted) {
    const held = tryLock(state.lock);
    if (held !== null) return held;
    if (Date.now() > until) {
      throw new Unavailable(
        `${state.own} is in use by ${describeLockHolder(state.lock) ?? 'another process'}`,
        'stop that agent, or give this one a folder of its own: --state DIR',
      );
    }
    await new Promise((done) => setTimeout(done, 250));
  }
  return null;
}

/** What an agent that was killed, together with its supervisor, left behind. */
async function clearLeftovers(state: StateFolder, log: Log): Promise<void> {
  const swept = sweepMarked((marker) => marker.startsWith(`${state.id}/`));
  if (swept > 0) log.event('agent.swept', { count: swept });
  await removeTree(state.scratchRoot);
}

async function main(): Promise<number> {
  try {
    const options = parseArguments(process.argv.slice(2), process.env);
    await serve(options, openLog(process.env['FLEET_LOG_LEVEL'] ?? 'info', options.device));
    return FLEET_EXIT.ok;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`agent: ${error.message}. next: ${USAGE}\n`);
      return FLEET_EXIT.usage;
    }
    if (error instanceof NoAdapter || error instanceof Unavailable || error instanceof ApiError) {
      process.stderr.write(`agent: ${error.message}. next: ${error.next}\n`);
      return FLEET_EXIT.infrastructure;
    }
    throw error;
  }
}

process.exit(await main());
