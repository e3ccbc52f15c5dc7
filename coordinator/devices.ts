/** Devices: who serves them, and what they are doing. */
import { addEvent } from '../db/queries/events.ts';
import { listAttempts } from '../db/queries/attempts.ts';
import { findDevice, listDevices, putDevice, updateDevice, type DeviceRow } from '../db/queries/devices.ts';
import { findJob, listUnfinishedJobs, updateJob } from '../db/queries/jobs.ts';
import { countPlannedLegs } from '../db/queries/planned-legs.ts';
import type { Queries, Store } from '../db/open.ts';
import type { Log } from './events.ts';
import type { DeviceView, HeartbeatRequest, RegisterRequest } from './protocol/agent.ts';
import { Refusal } from './refusal.ts';

/** A device is served while heartbeats (every 3 s) are no older than this. */
const LIVE_MS = 15_000;

/** What the last heartbeat of an agent that ended in order says. */
const STOPPED = 'stopped' satisfies HeartbeatRequest['activity'];

export function isLive(device: DeviceRow, now = Date.now()): boolean {
  return device.activity !== STOPPED && now - Date.parse(device.lastSeenAt) <= LIVE_MS;
}

/**
 * Writes down that an agent process serves a device.
 * @returns whether it takes the device over from another agent, whose open jobs are `queued` again then.
 */
export function registerDevice(store: Store, log: Log, name: string, request: RegisterRequest): boolean {
  const at = new Date().toISOString();
  const { agent, adapter, driver, evidence, lockPath, host, pid } = request;
  const takesOver = store.transaction((tx) => {
    const before = findDevice(tx, name);
    const again = before?.agent === agent;
    putDevice(tx, {
      name,
      agent,
      adapter,
      driver,
      evidence,
      lockPath,
      host,
      pid,
      registeredAt: at,
      lastSeenAt: at,
      activity: again ? before.activity : 'idle',
      job: again ? before.job : null,
      leg: again ? before.leg : null,
      lockHolder: again ? before.lockHolder : null,
    });
    addEvent(tx, { at, name: 'device.registered', run: null, job: null, fields: { device: name, agent, adapter, evidence } });
    const left = listUnfinishedJobs(tx).filter(
      (job) =>
        job.device === name && job.acceptedAttempt === null && listAttempts(tx, job.id).some((attempt) => attempt.state === 'open' && attempt.agent !== agent),
    );
    for (const job of left) updateJob(tx, job.id, { state: 'queued', note: 'another agent took the device over; queued again' }, at);
    return before !== undefined && !again;
  });
  log.event('device.registered', { device: name, agent, adapter, evidence });
  return takesOver;
}

/**
 * Writes a heartbeat down.
 * @returns what the agent must stop: `superseded` when another agent serves the device, `cancel` its job when no result of it can count.
 * @throws Refusal not-found when the device was never registered here.
 */
export function recordHeartbeat(store: Store, name: string, request: HeartbeatRequest): { cancel: string[]; superseded: boolean } {
  return store.transaction((tx) => {
    const device = findDevice(tx, name);
    if (!device) throw new Refusal('not-found', `device ${name} is not registered here`, 'register it again: POST /api/devices/:device/register');
    if (device.agent !== request.agent) return { cancel: request.job === null ? [] : [request.job], superseded: true };
    const { activity, job, leg, lockHolder } = request;
    updateDevice(tx, name, { lastSeenAt: new Date().toISOString(), activity, job, leg, lockHolder });
    const row = job === null ? undefined : findJob(tx, job);
    const over = job !== null && (!row || row.state === 'judged' || row.state === 'failed');
    return { cancel: over ? [job] : [], superseded: false };
  });
}

/** Every device that was ever served, live ones first. */
export function viewDevices(queries: Queries): DeviceView[] {
  const rows = listDevices(queries);
  const legs = countPlannedLegs(
    queries,
    rows.flatMap((row) => (row.job === null ? [] : [row.job])),
  );
  const views = rows.map((stored): DeviceView => {
    const live = isLive(stored);
    // Its agent says otherwise only with the next heartbeat.
    const row = live && isOver(queries, stored.job) ? { ...stored, activity: 'idle', job: null, leg: null } : stored;
    return {
      device: row.name,
      adapter: row.adapter,
      driver: row.driver,
      evidence: row.evidence,
      lockPath: row.lockPath,
      host: row.host,
      live,
      lastSeenAt: row.lastSeenAt,
      activity: live || row.activity === STOPPED ? row.activity : 'away',
      job: row.job,
      note: noteOf(row, live, row.job === null ? 0 : (legs.get(row.job) ?? 0)),
    };
  });
  return views.toSorted((a, b) => Number(b.live) - Number(a.live));
}

/** What serves this very device again, where its host's fleet is. */
export function startCommand({ name, adapter, evidence }: Pick<DeviceRow, 'name' | 'adapter' | 'evidence'>): string {
  return `fleet agent --device ${name} --adapter ${JSON.stringify(adapter)}${evidence === 'software' ? ' --allow-software' : ''}`;
}

/** Whether a device's last word is about a job that was judged since. */
function isOver(queries: Queries, job: string | null): boolean {
  const state = job === null ? undefined : findJob(queries, job)?.state;
  return state === 'judged' || state === 'failed';
}

function noteOf(row: DeviceRow, live: boolean, legs: number): string {
  if (!live) {
    const since = row.activity === STOPPED ? `stopped at ${row.lastSeenAt}` : `no heartbeat since ${row.lastSeenAt}`;
    return `${since}; start it with: ${startCommand(row)}`;
  }
  if (row.activity === 'waiting-lock') return row.lockHolder === null ? `${row.lockPath} is locked` : `${row.lockPath} is locked by ${row.lockHolder}`;
  if (row.activity === 'running' && row.leg !== null) return `leg ${row.leg + 1} of ${legs}`;
  return '';
}
