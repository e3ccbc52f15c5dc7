import { describe, expect, it } from 'vitest';
import { legMeasure } from '../coordinator/protocol/run.ts';
import { measureOf } from './leg.ts';
import type { LegReport } from './supervisor-protocol.ts';

const ran = {
  spawnError: null,
  exitCode: 0,
  signal: null,
  timedOut: false,
  startedAt: '2026-01-01T00:00:00.000Z',
  wallMs: 12.5,
  majorFaults: 7,
  vmHwmKiB: 4096,
  stdout: '',
  stderr: '',
  droppedBytes: 0,
  swept: 0,
};
const report = (change: Partial<NonNullable<LegReport['ran']>>, held: [boolean, boolean] = [true, true]): LegReport => ({
  kind: 'leg',
  index: 0,
  lockHeldBefore: held[0],
  lockHeldAfter: held[1],
  lockTakenBy: null,
  ran: { ...ran, ...change },
});

describe('measureOf', () => {
  it.each([
    [{}, 'executed'],
    [{ exitCode: 1 }, 'refused'],
    [{ exitCode: 2 }, 'usage'],
    [{ exitCode: 124 }, 'timeout'],
    [{ exitCode: 70 }, 'broken'],
    [{ exitCode: null, signal: 'SIGSEGV' }, 'signal'],
    [{ exitCode: null, signal: 'SIGTERM', timedOut: true }, 'timeout'],
    [{ exitCode: null, spawnError: 'command not found: x' }, 'broken'],
  ] as const)('%j is %s', (change, outcome) => {
    const measure = legMeasure.parse(measureOf(report(change), 0, ''));
    expect(measure.outcome).toBe(outcome);
  });

  it('is void-lock, whatever happened, unless the lock was held on both sides', () => {
    expect(measureOf(report({}, [true, false]), 0, '')).toMatchObject({ outcome: 'void-lock', note: 'the GPU lock was lost while this leg ran' });
    const before = measureOf({ ...report({}, [false, false]), lockTakenBy: 'flock gpu.lock ./bench.sh (pid 4711)', ran: null }, 0, '');
    expect(legMeasure.parse(before)).toMatchObject({ outcome: 'void-lock', exitCode: null, wallMs: 0 });
    expect(before.note).toBe('the GPU lock was lost before this leg, so it was not started; it is held by flock gpu.lock ./bench.sh (pid 4711)');
  });

  it('says what was left out and what was swept', () => {
    expect(measureOf(report({ droppedBytes: 7, swept: 2 }), 0, '').note).toBe(
      '7 bytes of output were left out of the log; 2 processes that had left the group were ended',
    );
  });
});
