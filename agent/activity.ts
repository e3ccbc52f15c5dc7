/** What the agent is doing right now, as its heartbeats tell it. */
import type { HeartbeatRequest } from '../coordinator/protocol/agent.ts';

export type Activity = Omit<HeartbeatRequest, 'agent'>;

const IDLE: Activity = { activity: 'idle', job: null, leg: null, lockHolder: null };

/** One mutable place: the job writes it, the heartbeat reads it. */
export class ActivityBoard {
  private current: Activity = IDLE;

  get now(): Activity {
    return this.current;
  }

  set(activity: Exclude<Activity['activity'], 'idle' | 'stopped'>, job: string, more: { leg?: number; lockHolder?: string | null } = {}): void {
    this.current = { activity, job, leg: more.leg ?? null, lockHolder: more.lockHolder ?? null };
  }

  idle(): void {
    this.current = IDLE;
  }
}
