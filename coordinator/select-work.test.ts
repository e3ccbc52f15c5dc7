import { describe, expect, it } from 'vitest';
import type { DeviceRow } from '../db/queries/devices.ts';
import { manifest, type Manifest } from './protocol/manifest.ts';
import type { SubmitRequest } from './protocol/run.ts';
import { selectWork } from './select-work.ts';

const suite = (...cases: string[]): object => ({ kind: 'lines', command: ['sh'], cases: cases.map((name) => ({ name })) });
const of = (suites: Record<string, object>): Manifest => manifest.parse({ schema: 1, suites });
const request = (arms: number, more: Partial<SubmitRequest> = {}): SubmitRequest => ({
  arms: ['base', 'one', 'two'].slice(0, arms).map((label) => ({ label, head: 'a'.repeat(40), settings: {} })),
  pairs: 3,
  allowSoftware: false,
  key: 'key-1234',
  ...more,
});
function device(name: string, evidence: 'gpu' | 'software' = 'gpu', secondsAgo = 0): DeviceRow {
  const at = new Date(Date.now() - secondsAgo * 1000).toISOString();
  return {
    name,
    agent: 'agent-one',
    adapter: name,
    driver: '',
    evidence,
    lockPath: '',
    host: '',
    pid: 1,
    registeredAt: at,
    lastSeenAt: at,
    activity: 'idle',
    job: null,
    leg: null,
    lockHolder: null,
  };
}
const both = of({ gates: suite('a', 'b'), speed: suite('c') });

describe('suites', () => {
  it('are the baseline’s, on every live device, when none are named', () => {
    const work = selectWork(request(2), [both, both], [device('b60'), device('m1')]);
    expect(work.suites.map((item) => [item.name, item.arms, item.spec.cases.map((entry) => entry.name)])).toEqual([
      ['gates', [0, 1], ['a', 'b']],
      ['speed', [0, 1], ['c']],
    ]);
    expect(work.devices.map((item) => item.name)).toEqual(['b60', 'm1']);
    expect(work.notRun).toEqual([]);
  });

  it('that were not asked for show as not run', () => {
    const work = selectWork(request(2, { suites: ['gates'] }), [both, both], [device('b60')]);
    expect(work.notRun).toEqual(['base', 'one'].map((arm) => ({ device: 'b60', suite: 'speed', arm, status: 'not-run', note: 'suite not asked for' })));
  });

  it('run the cases that were asked for, and say which were left out', () => {
    const work = selectWork(request(2, { cases: ['gates/b'] }), [both, both], [device('b60')]);
    expect(work.suites.map((item) => [item.name, item.spec.cases.map((entry) => entry.name)])).toEqual([
      ['gates', ['b']],
      ['speed', ['c']],
    ]);
    expect(work.notRun).toEqual(['base', 'one'].map((arm) => ({ device: 'b60', suite: 'gates/a', arm, status: 'not-run', note: 'case not asked for' })));
    expect(() => selectWork(request(2, { cases: ['gates/x'] }), [both, both], [device('b60')])).toThrow('suite gates has no case x in this run (it has: a, b)');
    expect(() => selectWork(request(2, { cases: ['nope/x'] }), [both, both], [device('b60')])).toThrow('case nope/x names no suite of the baseline');
  });

  it('that one candidate lacks run with the other arms only', () => {
    const work = selectWork(request(3), [both, of({ gates: suite('a', 'b') }), both], [device('b60')]);
    expect(work.suites.map((item) => [item.name, item.arms])).toEqual([
      ['gates', [0, 1, 2]],
      ['speed', [0, 2]],
    ]);
    expect(work.notRun).toEqual([
      { device: 'b60', suite: 'speed', arm: 'one', status: 'not-run', note: 'not comparable: the fleet.json of one has no suite speed' },
    ]);
  });

  it('without a partner for the baseline are refused when nothing is left', () => {
    expect(() => selectWork(request(2), [of({ gates: suite('a') }), of({ other: suite('a') })], [device('b60')])).toThrow(
      'no candidate can be compared in gates: only the baseline has suite gates',
    );
    expect(() => selectWork(request(2), [of({ gates: suite('a') }), of({ gates: suite('z') })], [device('b60')])).toThrow(
      'the arms share no case of suite gates',
    );
    expect(() => selectWork(request(2, { suites: ['nope'] }), [both, both], [device('b60')])).toThrow(
      'suite nope is not in the fleet.json of the baseline base (it has: gates, speed)',
    );
  });
});

it('cases that only one arm has are not run, and are named for every candidate’s verdict', () => {
  const work = selectWork(request(2), [of({ gates: suite('a', 'b') }), of({ gates: suite('b', 'z') })], [device('b60')]);
  expect(work.suites[0]!.spec.cases.map((item) => item.name)).toEqual(['b']);
  expect(work.suites[0]!.notComparable).toEqual([
    { arm: 1, case: 'a', note: 'no such case in one' },
    { arm: 1, case: 'z', note: 'the baseline has no such case' },
  ]);
});

describe('devices', () => {
  it('that are software, away or not asked for show as not run, with why', () => {
    const known = [device('b60'), device('soft', 'software'), device('old', 'gpu', 60), device('m1')];
    const work = selectWork(request(2, { devices: ['b60', 'soft'], suites: ['speed'] }), [both, both], known);
    expect(work.devices.map((item) => item.name)).toEqual(['b60']);
    const notes = new Map(work.notRun.map((cell) => [cell.device, cell.note]));
    expect(notes.get('soft')).toContain('--allow-software');
    expect(notes.get('old')).toContain('no agent served it');
    expect(notes.get('m1')).toBe('device not asked for');
  });

  it('that are software take part with consent', () => {
    expect(selectWork(request(2, { allowSoftware: true }), [both, both], [device('soft', 'software')]).devices.map((item) => item.name)).toEqual(['soft']);
    expect(() => selectWork(request(2), [both, both], [device('soft', 'software')])).toThrow('software driver is never GPU evidence');
  });

  it('that nobody serves are refused by name, with those that are served', () => {
    expect(() => selectWork(request(2, { devices: ['b60', 'm1'] }), [both, both], [device('m1'), device('b60', 'gpu', 60)])).toThrow(
      'device b60 is not served by any agent (served: m1)',
    );
    expect(() => selectWork(request(2), [both, both], [])).toThrow('no device is served by any agent');
  });
});
