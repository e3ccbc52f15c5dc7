import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, readJournal, type Store } from './open.ts';
import { addArms, listArms } from './queries/arms.ts';
import { addAttempt, findAttempt, updateAttempt } from './queries/attempts.ts';
import { addBlob } from './queries/blobs.ts';
import { addCalibrations, listCalibrations } from './queries/calibrations.ts';
import { addCorrection } from './queries/corrections.ts';
import { putDevice } from './queries/devices.ts';
import { addEvent, listEvents } from './queries/events.ts';
import { addHead } from './queries/heads.ts';
import { acceptAttempt, addJobs, countEnqueued, findJob, updateJob } from './queries/jobs.ts';
import { addLegResult } from './queries/leg-results.ts';
import { addPlannedLegs, countPlannedLegs } from './queries/planned-legs.ts';
import { addRun, findRunByKey } from './queries/runs.ts';
import { addVerdicts } from './queries/verdicts.ts';

let folder: string;
let file: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-db-'));
  file = join(folder, 'fleet.sqlite');
  store = openStore(file);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const AT = '2026-11-29T12:00:00.000Z';
const HEAD = 'a'.repeat(40);
const BLOB = 'b'.repeat(64);
const JOB = 'r0123456789.b60.gates';

/** One run with one job of two legs, one of them measured. */
function fill(): void {
  const { queries } = store;
  const suite = { kind: 'lines' as const, command: ['sh'], cases: [{ name: 'a', args: [] }], settings: false, timed: false, timeoutS: 600 };
  addHead(queries, { sha: HEAD, tree: HEAD, subject: 's', manifest: { schema: 1, prepare: { timeoutS: 1800 }, suites: { gates: suite } }, addedAt: AT });
  const rule = { text: 'identity exact', identity: 'exact' as const, clauses: [] };
  addRun(queries, {
    id: 'r0123456789',
    key: 'key',
    requestSha256: BLOB,
    submittedAt: AT,
    pairs: 3,
    allowSoftware: false,
    rule,
    sealText: '{}',
    sealSha256: BLOB,
    sealAt: AT,
    coverageNotRun: [],
  });
  addArms(
    queries,
    [0, 1].map((position) => ({ run: 'r0123456789', position, label: `arm ${position}`, head: HEAD, settings: {} })),
  );
  putDevice(queries, {
    name: 'b60',
    agent: 'agent-one',
    adapter: 'A',
    driver: 'd',
    evidence: 'gpu',
    lockPath: 'l',
    host: 'h',
    pid: 1,
    registeredAt: AT,
    lastSeenAt: AT,
    activity: 'idle',
    job: null,
    leg: null,
    lockHolder: null,
  });
  addJobs(queries, [
    {
      id: JOB,
      run: 'r0123456789',
      device: 'b60',
      suite: 'gates',
      spec: suite,
      arms: [0, 1],
      notComparable: [],
      state: 'queued',
      note: '',
      evidence: 'gpu',
      adapter: 'A',
      acceptedAttempt: null,
      enqueued: 0,
      updatedAt: AT,
    },
  ]);
  addPlannedLegs(
    queries,
    [0, 1].map((position) => ({ job: JOB, position, arm: position, caseName: 'a', pair: null, args: [], pinnedIds: null })),
  );
  addAttempt(queries, { job: JOB, number: 1, state: 'open', agent: 'agent-one', tokenSha256: BLOB, openedAt: AT, note: '' });
  addBlob(queries, { sha256: BLOB, byteLength: 1, addedAt: AT });
  addLegResult(queries, result(0));
  addVerdicts(queries, [
    {
      job: JOB,
      arm: 1,
      verdict: {
        device: 'b60',
        suite: 'gates',
        candidate: 'arm 1',
        evidence: 'gpu',
        verdict: 'same',
        reason: '',
        identities: [],
        lines: [],
        contract: [],
        effects: [],
        calibration: '',
        computedFrom: BLOB,
      },
      computedAt: AT,
    },
  ]);
  addEvent(queries, { at: AT, name: 'run.submitted', run: 'r0123456789', job: JOB, fields: {} });
}
function result(position: number): Parameters<typeof addLegResult>[1] {
  const measure = {
    outcome: 'executed' as const,
    exitCode: 0,
    signal: null,
    startedAt: AT,
    wallMs: 1,
    vmHwmKiB: null,
    lockHeldBefore: true,
    lockHeldAfter: true,
    note: '',
  };
  return { job: JOB, attempt: 1, position, measure, records: null, log: BLOB, bodySha256: BLOB, receivedAt: AT };
}
const calibration: Parameters<typeof addCalibrations>[1][number] = {
  run: 'r0123456789',
  at: AT,
  device: 'b60',
  evidence: 'gpu',
  adapter: 'A',
  driver: 'd',
  suite: 'gates',
  case: 'a',
  args: [],
  model: null,
  head: HEAD,
  settings: {},
  metric: 'ms',
  baselineMs: [100, 101, 102],
  candidateMs: [100, 101, 102],
  floor: { pairs: 3, percent: 1.2 },
  falseVerdicts: { pairs: 3, rule: 'identity exact', simulated: { hits: 1, of: 10 }, counted: { hits: 0, of: 1 } },
};
/** Runs SQL past the query files, as a person with a shell would. */
function sql(text: string): void {
  const client = new Database(file);
  try {
    client.exec(text);
  } finally {
    client.close();
  }
}

it('has these tables, columns and triggers', () => {
  const client = new Database(file, { readonly: true });
  const tables = client
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' ORDER BY name")
    .all() as { name: string }[];
  const columns = tables.map(
    ({ name }) =>
      `${name}: ${(client.pragma(`table_info(${name})`) as { name: string; notnull: number; pk: number }[]).map((column) => `${column.name}${column.pk ? '!' : column.notnull ? '' : '?'}`).join(' ')}`,
  );
  const triggers = (client.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name").all() as { name: string }[]).map(({ name }) => name);
  client.close();
  expect([...columns, `triggers: ${triggers.join(' ')}`]).toMatchSnapshot();
});

it('writes ahead, syncs fully and keeps foreign keys', () => {
  fill();
  expect(() => addArms(store.queries, [{ run: 'r9999999999', position: 0, label: '', head: HEAD, settings: {} }])).toThrow(/FOREIGN KEY/);
  expect(() => addLegResult(store.queries, { ...result(1), attempt: 7 })).toThrow(/FOREIGN KEY/);
  const client = new Database(file, { readonly: true });
  expect(client.pragma('journal_mode', { simple: true })).toBe('wal');
  client.close();
});

describe('migrations', () => {
  it('rise strictly in time, since drizzle skips one that is older than the last applied', () => {
    const times = readJournal().map((entry) => entry.when);
    expect(times.every((when, at) => at === 0 || when > times[at - 1]!)).toBe(true);
  });

  it('of another version are refused', () => {
    store.close();
    sql("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 9999999999999)");
    expect(() => openStore(file)).toThrow(/has 9 migrations and these sources have 8.*next:/);
    sql("DELETE FROM __drizzle_migrations WHERE hash = 'later'");
    store = openStore(file);
  });
});

it('never changes what was sealed, measured or corrected', () => {
  fill();
  addCorrection(store.queries, { run: 'r0123456789', figure: 'run/pairs', text: 'too few', at: AT });
  addCalibrations(store.queries, [calibration]);
  expect(listCalibrations(store.queries, 'b60')).toMatchObject([{ at: AT, floorPercent: 1.2, driver: 'd', calibration }]);
  for (const [change, refusal] of [
    ["UPDATE runs SET rule = '{}'", 'sealed run'],
    ["UPDATE runs SET seal_text = 'x'", 'sealed run'],
    ["UPDATE arms SET head = 'x'", 'arms of a sealed run'],
    ['UPDATE planned_legs SET arm = 0', 'sealed order'],
    ['DELETE FROM planned_legs', 'sealed order'],
    ["UPDATE leg_results SET measure = '{}'", 'measured leg'],
    ['DELETE FROM leg_results', 'measured leg'],
    ["UPDATE verdicts SET verdict = '{}'", 'verdict never changes'],
    ['DELETE FROM events', 'append-only'],
    ["UPDATE corrections SET text = 'x'", 'append-only'],
    ['DELETE FROM corrections', 'append-only'],
    ['UPDATE calibrations SET floor_percent = 0', 'append-only'],
    ['DELETE FROM calibrations', 'append-only'],
  ] as const) {
    expect(() => sql(change)).toThrow(refusal);
  }
});

it('accepts one attempt a job, and a result once', () => {
  fill();
  const { queries } = store;
  expect(addLegResult(queries, { ...result(0), bodySha256: 'c'.repeat(64) })).toBe(false);
  expect(addLegResult(queries, result(1))).toBe(true);
  expect(acceptAttempt(queries, JOB, 1, AT)).toBe(true);
  expect(acceptAttempt(queries, JOB, 2, AT)).toBe(false);
  expect(findJob(queries, JOB)!.acceptedAttempt).toBe(1);
  expect(() => sql('UPDATE jobs SET accepted_attempt = 2')).toThrow('accepts one attempt');
});

it('rolls a transaction back whole', () => {
  fill();
  expect(() =>
    store.transaction((tx) => {
      updateJob(tx, JOB, { state: 'preparing' }, AT);
      updateAttempt(tx, JOB, 1, { state: 'failed' });
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(findJob(store.queries, JOB)!.state).toBe('queued');
  expect(findAttempt(store.queries, JOB, 1)!.state).toBe('open');
});

it('reads back what was written', () => {
  fill();
  const { queries } = store;
  expect(listArms(queries, 'r0123456789').map((arm) => [arm.label, arm.tree])).toEqual([
    ['arm 0', HEAD],
    ['arm 1', HEAD],
  ]);
  expect(findRunByKey(queries, 'key')!.rule.text).toBe('identity exact');
  expect(countPlannedLegs(queries, [JOB, 'other'])).toEqual(new Map([[JOB, 2]]));
  expect([countEnqueued(queries, JOB), countEnqueued(queries, JOB)]).toEqual([1, 2]);
  expect(listEvents(queries, JOB).map((event) => event.name)).toEqual(['run.submitted']);
});
