/** Says every 3 s what the agent is doing, and learns what it must stop. Cancels are a level, not an event: they survive restarts. */
import { setTimeout as sleep } from 'node:timers/promises';
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

/** Says that nobody serves the device from now on. One try: a coordinator that is away sees the silence instead. */
export async function sayStopped(device: string, agent: string, api: Pick<ApiClient, 'heartbeat'>): Promise<void> {
  try {
    await api.heartbeat(device, { agent, activity: 'stopped', job: null, leg: null, lockHolder: null });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
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
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {}); // rejects when the signal fires, which ends the loop
  }
}
