import { expect, test } from 'vitest';
import type { DeviceView } from '../protocol/agent.ts';
import type { JobView } from '../protocol/run.ts';
import { jobLine } from './job-line.ts';

const leg = (index: number, posted: boolean): JobView['legs'][number] => ({
  index,
  arm: index % 2,
  case: 'story',
  pair: 1,
  measure: posted
    ? {
        outcome: 'executed',
        exitCode: 0,
        signal: null,
        startedAt: '2026-11-29T00:00:00.000Z',
        wallMs: 1,
        vmHwmKiB: null,
        lockHeldBefore: true,
        lockHeldAfter: true,
        note: '',
      }
    : null,
  log: null,
  records: null,
});
const attempt = (number: number, state: JobView['attempts'][number]['state'], note = ''): JobView['attempts'][number] => ({
  number,
  state,
  agent: 'a'.repeat(8),
  openedAt: '2026-11-29T00:00:00.000Z',
  note,
});
const job = (over: Partial<JobView>): JobView => ({
  job: 'r0123456789.b60.decode',
  device: 'b60',
  suite: 'decode',
  kind: 'decode',
  state: 'queued',
  evidence: 'gpu',
  adapter: 'B60',
  note: '',
  attempts: [],
  acceptedAttempt: null,
  legs: [leg(0, true), leg(1, true), leg(2, false), leg(3, false)],
  verdicts: [],
  ...over,
});
const device: DeviceView = {
  device: 'b60',
  adapter: 'B60',
  driver: 'Mesa',
  evidence: 'gpu',
  lockPath: '/home/u/gpu.lock',
  host: 'h',
  live: true,
  lastSeenAt: '2026-11-29T00:00:00.000Z',
  activity: 'running',
  job: null,
  note: '',
};

test.each<[string, Partial<JobView>, Partial<DeviceView>, string]>([
  ['a queued job', {}, {}, 'queued'],
  ['a running job counts the leg it is at', { state: 'running' }, {}, 'running, leg 3 of 4'],
  ['all legs in', { state: 'running', legs: [leg(0, true), leg(1, true)] }, {}, 'running, 2 of 2 legs are in'],
  [
    'a held lock names file and holder',
    { state: 'waiting-lock', note: 'held by sleep (pid 41)' },
    {},
    'waiting-lock, for /home/u/gpu.lock, held by sleep (pid 41)',
  ],
  [
    'a note that names the file itself is enough',
    { state: 'waiting-lock', note: '/home/u/gpu.lock is locked by sleep (pid 41)' },
    {},
    'waiting-lock, /home/u/gpu.lock is locked by sleep (pid 41)',
  ],
  [
    'a retry says why the attempt before was lost',
    { state: 'running', attempts: [attempt(1, 'superseded', 'agent lost'), attempt(2, 'open')] },
    {},
    'running, leg 3 of 4, attempt 2 (attempt 1: agent lost)',
  ],
  ['a silent agent is named', {}, { live: false }, 'queued, no heartbeat from b60 since 2026-11-29T00:00:00.000Z'],
  ['a failed job gives its reason', { state: 'failed', note: 'npm ci failed' }, { live: false }, 'failed, npm ci failed'],
])('%s', (_what, over, now, line) => {
  expect(jobLine(job(over), { ...device, ...now })).toBe(line);
});

test('a device that nobody registered still has a line', () => {
  expect(jobLine(job({ state: 'waiting-lock' }))).toBe('waiting-lock, for the GPU lock');
});
