/**
 * Every table. SQLite is the truth of fleet: what stands here happened, and Redis can be rebuilt from it.
 *
 * Times are ISO 8601 text in UTC. JSON columns hold protocol types. Rows that seal a run (runs' rule and seal, arms, planned legs)
 * and rows that were measured (leg results, events, calibrations), corrections and imports never change: triggers of migrations 0001, 0003, 0005 and 0007.
 */
import { foreignKey, index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { Calibration } from '../coordinator/protocol/calibration.ts';
import type { Manifest, ManifestSuite } from '../coordinator/protocol/manifest.ts';
import type { LegMeasure, Rule, RunView } from '../coordinator/protocol/run.ts';
import type { AttemptState, JobState } from '../coordinator/protocol/states.ts';
import type { Verdict } from '../coordinator/protocol/verdict.ts';

type Evidence = Verdict['evidence'];
type CoverageCell = RunView['coverage'][number];
/** A case that not every arm of a job has. `arm` is the position of the candidate whose verdict shows it. */
export interface NotComparable {
  arm: number;
  case: string;
  note: string;
}

/** Commits that runs name. Their objects are in the bare repository. */
export const heads = sqliteTable('heads', {
  sha: text('sha').primaryKey(),
  tree: text('tree').notNull(),
  subject: text('subject').notNull(),
  manifest: text('manifest', { mode: 'json' }).$type<Manifest>().notNull(),
  addedAt: text('added_at').notNull(),
});

/** One submission. `coverageNotRun` holds the cells that were left out when it was submitted, each with the reason. */
export const runs = sqliteTable(
  'runs',
  {
    id: text('id').primaryKey(),
    key: text('key').notNull(),
    requestSha256: text('request_sha256').notNull(),
    submittedAt: text('submitted_at').notNull(),
    pairs: integer('pairs').notNull(),
    allowSoftware: integer('allow_software', { mode: 'boolean' }).notNull(),
    rule: text('rule', { mode: 'json' }).$type<Rule>().notNull(),
    sealText: text('seal_text').notNull(),
    sealSha256: text('seal_sha256').notNull(),
    sealAt: text('seal_at').notNull(),
    coverageNotRun: text('coverage_not_run', { mode: 'json' }).$type<CoverageCell[]>().notNull(),
  },
  (table) => [uniqueIndex('runs_key').on(table.key), index('runs_submitted').on(table.submittedAt)],
);

/** The arms of a run; position 0 is the baseline. */
export const arms = sqliteTable(
  'arms',
  {
    run: text('run')
      .notNull()
      .references(() => runs.id),
    position: integer('position').notNull(),
    label: text('label').notNull(),
    head: text('head')
      .notNull()
      .references(() => heads.sha),
    settings: text('settings', { mode: 'json' }).$type<Record<string, string>>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.run, table.position] })],
);

/** Devices that an agent ever served, with the last registration and heartbeat. */
export const devices = sqliteTable('devices', {
  name: text('name').primaryKey(),
  agent: text('agent').notNull(),
  adapter: text('adapter').notNull(),
  driver: text('driver').notNull(),
  evidence: text('evidence').$type<Evidence>().notNull(),
  lockPath: text('lock_path').notNull(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  registeredAt: text('registered_at').notNull(),
  lastSeenAt: text('last_seen_at').notNull(),
  activity: text('activity').notNull(),
  job: text('job'),
  leg: integer('leg'),
  lockHolder: text('lock_holder'),
});

/**
 * A run's suite on a device. `acceptedAttempt` goes from NULL to a number once. `enqueued` counts the BullMQ jobs made for it, so that
 * each has an id of its own (JOB-aN). `spec` is the baseline's suite; `arms` are the positions of the run's arms that take part.
 */
export const jobs = sqliteTable(
  'jobs',
  {
    id: text('id').primaryKey(),
    run: text('run')
      .notNull()
      .references(() => runs.id),
    device: text('device')
      .notNull()
      .references(() => devices.name),
    suite: text('suite').notNull(),
    spec: text('spec', { mode: 'json' }).$type<ManifestSuite>().notNull(),
    arms: text('arms', { mode: 'json' }).$type<number[]>().notNull(),
    notComparable: text('not_comparable', { mode: 'json' }).$type<NotComparable[]>().notNull(),
    state: text('state').$type<JobState>().notNull(),
    note: text('note').notNull(),
    evidence: text('evidence').$type<Evidence>().notNull(),
    adapter: text('adapter').notNull(),
    acceptedAttempt: integer('accepted_attempt'),
    enqueued: integer('enqueued').notNull().default(0),
    updatedAt: text('updated_at').notNull(),
  },
  (table) => [index('jobs_run').on(table.run), index('jobs_state').on(table.state), index('jobs_device').on(table.device)],
);

/** The sealed order: leg `position` of a job is one fresh process of that arm and case. */
export const plannedLegs = sqliteTable(
  'planned_legs',
  {
    job: text('job')
      .notNull()
      .references(() => jobs.id),
    position: integer('position').notNull(),
    arm: integer('arm').notNull(),
    caseName: text('case_name').notNull(),
    pair: integer('pair'),
    args: text('args', { mode: 'json' }).$type<string[]>().notNull(),
    pinnedIds: text('pinned_ids', { mode: 'json' }).$type<number[]>(),
  },
  (table) => [primaryKey({ columns: [table.job, table.position] })],
);

/** One try of a job by one agent. `number` is the fence. The token is kept as its SHA-256 only. */
export const attempts = sqliteTable(
  'attempts',
  {
    job: text('job')
      .notNull()
      .references(() => jobs.id),
    number: integer('number').notNull(),
    state: text('state').$type<AttemptState>().notNull(),
    agent: text('agent').notNull(),
    tokenSha256: text('token_sha256').notNull(),
    openedAt: text('opened_at').notNull(),
    note: text('note').notNull(),
  },
  (table) => [primaryKey({ columns: [table.job, table.number] })],
);

/** Files by content: logs and records of legs. The file is on disk, fsynced, before its row is written. */
export const blobs = sqliteTable('blobs', {
  sha256: text('sha256').primaryKey(),
  byteLength: integer('byte_length').notNull(),
  addedAt: text('added_at').notNull(),
});

/** What an attempt posted for a leg. Rows of losing attempts are kept. */
export const legResults = sqliteTable(
  'leg_results',
  {
    job: text('job').notNull(),
    attempt: integer('attempt').notNull(),
    position: integer('position').notNull(),
    measure: text('measure', { mode: 'json' }).$type<LegMeasure>().notNull(),
    records: text('records').references(() => blobs.sha256),
    log: text('log')
      .notNull()
      .references(() => blobs.sha256),
    bodySha256: text('body_sha256').notNull(),
    receivedAt: text('received_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.job, table.attempt, table.position] }),
    foreignKey({ columns: [table.job, table.attempt], foreignColumns: [attempts.job, attempts.number] }),
    foreignKey({ columns: [table.job, table.position], foreignColumns: [plannedLegs.job, plannedLegs.position] }),
  ],
);

/** The verdict of a job's candidate arm, computed from stored records. */
export const verdicts = sqliteTable(
  'verdicts',
  {
    job: text('job')
      .notNull()
      .references(() => jobs.id),
    arm: integer('arm').notNull(),
    verdict: text('verdict', { mode: 'json' }).$type<Verdict>().notNull(),
    computedAt: text('computed_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.job, table.arm] })],
);

/** What happened, in order; append-only. `name` is one of coordinator/events.ts. */
export const events = sqliteTable(
  'events',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    at: text('at').notNull(),
    name: text('name').notNull(),
    run: text('run'),
    job: text('job'),
    fields: text('fields', { mode: 'json' }).$type<Record<string, string | number | boolean | null>>().notNull(),
  },
  (table) => [index('events_job').on(table.job)],
);

/** What people appended to figures of runs; append-only. `figure` is a name of coordinator/core/figures.ts. */
export const corrections = sqliteTable(
  'corrections',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    run: text('run').notNull(),
    figure: text('figure').notNull(),
    text: text('text').notNull(),
    at: text('at').notNull(),
  },
  (table) => [index('corrections_run').on(table.run)],
);

/** Runs that were imported, whole as they are shown; read-only. Their files are blobs. `sha256` is that of what was imported. */
export const imports = sqliteTable(
  'imports',
  {
    run: text('run').primaryKey(),
    kind: text('kind').$type<'receipt' | 'records'>().notNull(),
    sha256: text('sha256').notNull(),
    at: text('at').notNull(),
    submittedAt: text('submitted_at').notNull(),
    view: text('view', { mode: 'json' }).$type<RunView>().notNull(),
  },
  (table) => [uniqueIndex('imports_sha256').on(table.sha256), index('imports_submitted').on(table.submittedAt)],
);

/** A/A calibrations of devices, a case each; append-only. `at` is when the last leg began. */
export const calibrations = sqliteTable(
  'calibrations',
  {
    run: text('run')
      .notNull()
      .references(() => runs.id),
    device: text('device').notNull(),
    suite: text('suite').notNull(),
    caseName: text('case_name').notNull(),
    at: text('at').notNull(),
    head: text('head').notNull(),
    driver: text('driver').notNull(),
    evidence: text('evidence').$type<Evidence>().notNull(),
    floorPercent: real('floor_percent').notNull(),
    calibration: text('calibration', { mode: 'json' }).$type<Calibration>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.run, table.device, table.suite, table.caseName] }), index('calibrations_device').on(table.device, table.at)],
);
