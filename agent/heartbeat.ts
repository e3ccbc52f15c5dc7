/** Says every 3 s what the agent is doing, and learns what it must stop. Cancels are a level, not an event: they survive restarts. */
import type { HeartbeatRequest } from '../coordinator/protocol/agent.ts';
import { ApiError, type ApiClient } from './api-client.ts';
import type { Log } from './events.ts';

const EVERY_MS = 3000;

export interface HeartbeatHooks {
  now(): HeartbeatRequest;
  onCancel(jobs: readonly string[]): void;
  /** Another agent process serves the device: this one must end. */
  onSuperseded(): void;
  /** The coordinator answers again after an outage, or knows the device no more: register again. */
  onReturn(): Promise<void>;
}

/** Beats until `signal` fires. */
export async function beat(device: string, api: Pick<ApiClient, 'heartbeat'>, hooks: HeartbeatHooks, log: Log, signal: AbortSignal): Promise<void> {
  let away = false;
  while (!signal.aborted) {
    try {
      const reply = await api.heartbeat(device, hooks.now());
      if (reply.superseded) {
        hooks.onSuperseded();
        return;
      }
      if (reply.cancel.length > 0) hooks.onCancel(reply.cancel);
      if (away) {
        // A coordinator that was started again may have another Redis.
        await hooks.onReturn();
        log.event('coordinator.back');
      }
      away = false;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) await hooks.onReturn().catch((failed: Error) => log.event('coordinator.unreachable', { reason: failed.message }));
      else {
        if (!away) log.event('coordinator.unreachable', { reason: error.message });
        away = true;
      }
    }
    await sleep(EVERY_MS, signal);
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((done) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
