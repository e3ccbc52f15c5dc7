/** A run: what is submitted, how it is planned and sealed, and the whole of it as pages and reports read it. */
import { z } from 'zod';
import { evidence } from '../../engine/protocol.ts';
import { calibration } from './calibration.ts';
import { caseName, casePath, deviceName, jobId, orderSeed, runId, settings, sha1, sha256, suiteName } from './ids.ts';
import { machineState } from './machine.ts';
import { manifestSuite } from './manifest.ts';
import { jobState, legOutcome, attemptState } from './states.ts';
import { modeShare, verdict } from './verdict.ts';

/** A head plus settings. `label` is what was typed, settings included: HEAD[qmm=scalar]. The first arm is the baseline. */
export const armRequest = z.strictObject({ label: z.string().min(1).max(200), head: sha1, settings });
export type ArmRequest = z.infer<typeof armRequest>;

/** POST /api/runs. The heads' objects are already there (POST /api/heads/bundle). */
export const submitRequest = z.strictObject({
  arms: z.array(armRequest).min(2).max(8),
  /** Default: every suite of the baseline's manifest. */
  suites: z.array(suiteName).min(1).optional(),
  /** SUITE/CASE names; a suite that is named here runs only these of its cases, the others run all of theirs. */
  cases: z.array(casePath).min(1).optional(),
  /** Default: every device that an agent serves now. */
  devices: z.array(deviceName).min(1).optional(),
  pairs: z.int().min(1).max(500).default(3),
  /** Each arm against the one below it, and the last against the first; default: each against the first. */
  stack: z.boolean().optional(),
  /** The arm that is the merge base of the others: the last one, or 0 where the baseline is it. It takes part in suites that are not timed. */
  mergeBase: z.int().min(0).optional(),
  /** Default: 0. */
  seed: orderSeed.optional(),
  /** The decision rule, as core/rule.ts reads it; default: DEFAULT_RULE. */
  rule: z.string().min(1).max(1000).optional(),
  /** What the submitter expects, as core/forecast.ts reads it. */
  forecast: z.string().min(1).max(4000).optional(),
  /** Software devices take part only when this is true. */
  allowSoftware: z.boolean().default(false),
  /** Repeating a submission with the same key returns the same run. */
  key: z.string().min(8).max(64),
});
export type SubmitRequest = z.infer<typeof submitRequest>;

/** What was sealed before anything was queued: the texts, and the hash that every verdict is held to. */
export const sealed = z.object({ sha256, at: z.iso.datetime(), rule: z.string(), forecast: z.string().nullable() });

export const submitResponse = z.object({
  run: runId,
  url: z.url(),
  jobs: z.array(z.object({ job: jobId, device: deviceName, suite: suiteName })),
  sealed: sealed.optional().describe('absent from coordinators of earlier versions'),
});
export type SubmitResponse = z.infer<typeof submitResponse>;

/** POST /api/runs/:run/pairs: more pairs of a judged run, under its rule. */
export const addPairsRequest = submitRequest.pick({ key: true }).extend({ pairs: z.int().min(1).max(500) });
export type AddPairsRequest = z.infer<typeof addPairsRequest>;

/** The run whose pairs this one adds to: its seal, and how many pairs a case there were before. */
export const extension = z.strictObject({ run: runId, sha256, pairs: z.int().min(1) });
export type Extension = z.infer<typeof extension>;

/** One condition of a rule; percents, but for `p` and `pairs`. `floor` is the device's A/A floor. */
export const ruleClause = z.strictObject({
  subject: z.enum(['median', 'every pair', 'estimate', 'low', 'p', 'pairs']),
  op: z.enum(['>=', '>', '<=', '<']),
  value: z.number().or(z.literal('floor')),
});
export type RuleClause = z.infer<typeof ruleClause>;

/** The sealed decision rule; `text` is its grammar's (core/rule.ts), the rest what the text says. */
export const rule = z.strictObject({
  text: z.string(),
  identity: z.enum(['exact', 'ids', 'differ']).or(z.string().regex(/^logits<=[0-9.e+-]+$/)),
  clauses: z.array(ruleClause),
});
export type Rule = z.infer<typeof rule>;
export const DEFAULT_RULE: Rule = {
  text: 'identity exact and median >= 3% and every pair > 0% and median > floor',
  identity: 'exact',
  clauses: [
    { subject: 'median', op: '>=', value: 3 },
    { subject: 'every pair', op: '>', value: 0 },
    { subject: 'median', op: '>', value: 'floor' },
  ],
};

/** A range for the median gain of the cases it names; null: of every case, device or candidate. Candidate 1 is the first after the baseline. */
export const forecastItem = z.strictObject({
  case: z.string().nullable(),
  device: z.string().nullable(),
  candidate: z.int().min(1).nullable(),
  lowPercent: z.number(),
  highPercent: z.number(),
  confidencePercent: z.number().nullable(),
});
export type ForecastItem = z.infer<typeof forecastItem>;

/** What the submitter expects; sealed with the rule. */
export const forecast = z.strictObject({ text: z.string(), items: z.array(forecastItem).min(1) });
export type Forecast = z.infer<typeof forecast>;

/** A planned leg: one fresh process. `arm` is an index into the run's arms. */
export const plannedLeg = z.object({
  index: z.int().min(0),
  arm: z.int().min(0),
  case: caseName,
  /** 1, 2, … within the case; null in suites that are not timed. */
  pair: z.int().min(1).nullable(),
});
export type PlannedLeg = z.infer<typeof plannedLeg>;

/** `unknown`: bare engine records that were imported do not say. */
export const runArm = armRequest.extend({
  head: sha1.or(z.literal('unknown')),
  tree: sha1.or(z.literal('unknown')).describe('git tree of the head'),
  subject: z.string(),
});

/** Logits rows of two legs, compared on the box (agent/logits-rows.ts). Nulls where they could not be; `note` says why. */
export const rowsComparison = z.object({
  baselineLeg: z.int(),
  candidateLeg: z.int(),
  baselineSha256: sha256.nullable().describe('of the file of rows, little-endian float32 in step order: the digest of the leg’s decode record'),
  candidateSha256: sha256.nullable(),
  rows: z.int(),
  columns: z.int(),
  idsEqual: z.boolean().nullable().describe('both choose the same id in every row'),
  firstDifferingStep: z.int().nullable().describe('the first row with other bits; null: none'),
  marginThere: z.number().nullable().describe('the baseline’s largest logit of that row less its second largest'),
  maxAbsDifference: z.number().nullable(),
  atStep: z.int().nullable().describe('the row of the largest difference'),
  note: z.string(),
});
export type RowsComparison = z.infer<typeof rowsComparison>;

/** What the agent measured about one leg, apart from what the engine wrote. */
export const legMeasure = z.object({
  outcome: legOutcome,
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  startedAt: z.iso.datetime(),
  wallMs: z.number().nonnegative().describe('by the agent’s own monotonic clock'),
  vmHwmKiB: z.int().nullable(),
  majorFaults: z
    .int()
    .nullable()
    .optional()
    .describe('pages that the leg’s processes waited for a disk for; null: the system does not tell; absent from agents of earlier versions'),
  lockHeldBefore: z.boolean(),
  lockHeldAfter: z.boolean(),
  note: z.string(),
  /** UTF-8 bytes of the log that are stdout; the rest is stderr. Absent: the whole log counts as stdout. */
  stdoutBytes: z.int().min(0).optional(),
  files: z
    .array(z.object({ name: z.string().max(500), bytes: z.int(), sha256 }))
    .max(200)
    .optional()
    .describe('what the leg left in its {out} folder; the files stay on the agent’s host; absent: none'),
  filesLeftOut: z.int().optional().describe('more of them, that were not read: too many, or too large'),
  rows: z.array(rowsComparison).optional().describe('comparisons of logits rows that this leg completed'),
  machine: z.object({ before: machineState, after: machineState }).optional().describe('around the leg; absent from agents of earlier versions'),
});
export type LegMeasure = z.infer<typeof legMeasure>;

export const legView = plannedLeg.extend({
  /** Null until posted. */
  measure: legMeasure.nullable(),
  log: sha256.nullable().describe('blob of stdout then stderr'),
  records: sha256.nullable().describe('blob of the engine’s records, verbatim'),
});

export const jobView = z.object({
  job: jobId,
  device: deviceName,
  suite: suiteName,
  kind: manifestSuite.shape.kind,
  state: jobState,
  evidence: evidence,
  adapter: z.string(),
  /** Why it is in this state: the lock's holder, a failure with the next command, … */
  note: z.string(),
  attempts: z.array(z.object({ number: z.int(), state: attemptState, agent: z.string(), openedAt: z.iso.datetime(), note: z.string() })),
  acceptedAttempt: z.int().nullable(),
  legs: z.array(legView),
  verdicts: z.array(verdict).describe('one per candidate arm, once judged or failed'),
});
export type JobView = z.infer<typeof jobView>;

/** A cell of device × suite × arm that was asked for, or could have been, and what became of it. */
export const coverageCell = z.object({
  device: z.string(),
  suite: z.string(),
  arm: z.string(),
  status: z.enum(['measured', 'void', 'pending', 'not-run', 'not-asked']),
  note: z.string(),
});

/** Legs of another mode of one case, over every run that measured the same two trees with the same settings on the same device. */
export const pooledModes = z.object({
  device: z.string(),
  suite: z.string(),
  arm: z.int().min(1).describe('the candidate, as an index of this run’s arms'),
  case: z.string(),
  runs: z.int().min(1),
  baseline: modeShare,
  candidate: modeShare,
  fisherP: z.number().describe('two-sided: the arms share one rate'),
  moreLegs: z.int().min(0).nullable().describe('for 80 % odds of p ≤ 0.05 at these rates; null where no number up to 600 is enough'),
});
export type PooledModes = z.infer<typeof pooledModes>;

/** POST /api/runs/:run/corrections: a figure by its name (core/figures.ts), and what is wrong with it. */
export const correctRequest = z.strictObject({ figure: z.string().min(1).max(500), text: z.string().trim().min(1).max(2000) });
/** What was appended to a figure; the figure itself stays as the records gave it. */
export const correction = correctRequest.extend({ run: runId.describe('whose figure it is'), at: z.iso.datetime() });

/** A run that was not measured for this coordinator. It is read-only: no pairs, no receipt. */
export const importedFrom = z.object({
  kind: z.enum(['receipt', 'records']).describe('records: bare engine records; no lock, no sealed rule, no head'),
  at: z.iso.datetime(),
  sha256: sha256.describe('of the receipt; of the canonical JSON of the records’ SHA-256s and labels'),
});

/** POST /api/imports/records: engine records of a machine that reaches nothing, one file an arm; the first is the baseline. */
export const importRecordsRequest = z.strictObject({
  device: deviceName,
  files: z
    .array(z.strictObject({ label: z.string().min(1).max(200), records: z.string() }))
    .min(1)
    .max(8),
});
export type ImportRecordsRequest = z.infer<typeof importRecordsRequest>;
export const importResponse = z.object({ run: runId, url: z.url() });

/** GET /api/runs/:id — everything pages and reports show. */
export const runView = z.object({
  schema: z.literal(1),
  run: runId,
  url: z.url(),
  submittedAt: z.iso.datetime(),
  arms: z.array(runArm),
  pairs: z.int(),
  rule: rule.describe('as sealed'),
  forecast: forecast.nullable().optional().describe('as sealed'),
  seal: z.object({
    sha256,
    at: z.iso.datetime(),
    text: z.string().describe('the canonical JSON that was hashed'),
    broken: z.string().nullable().optional().describe('how the stored run differs from what was sealed; every verdict is then void'),
  }),
  extends: extension.nullable().optional().describe('the run whose pairs these are added to, and judged with'),
  stack: z.boolean().optional().describe('each arm is compared with the one below it, and the last with the first'),
  seed: orderSeed.optional().describe('what the order of legs was planned with, as sealed; absent from runs of earlier versions'),
  mergeBase: z.int().optional().describe('the arm that is the merge base of the others, measured to tell what failed before'),
  calibrates: z.literal(true).optional().describe('an A/A calibration: both arms are one head, and its verdicts are about the device, not about a change'),
  calibrated: z.array(calibration).optional().describe('what an A/A calibration gave, once judged'),
  done: z.boolean(),
  jobs: z.array(jobView),
  coverage: z.array(coverageCell),
  imported: importedFrom.optional(),
  corrections: z.array(correction).optional().describe('oldest first; those of pairs of the runs that this one adds to among them'),
  pooledModes: z.array(pooledModes).optional().describe('only cases that showed a leg of another mode in any run'),
});
export type RunView = z.infer<typeof runView>;

/** Arms that a verdict is about: neither the baseline nor a merge base that was added. */
export const candidatesOf = (view: Pick<RunView, 'arms' | 'mergeBase'>): RunView['arms'] =>
  view.arms.filter((_, position) => position > 0 && position !== view.mergeBase);

export const runSummary = z.object({
  run: runId,
  submittedAt: z.iso.datetime(),
  imported: importedFrom.shape.kind.optional(),
  calibrates: runView.shape.calibrates,
  arms: z.array(z.string()),
  jobs: z.array(
    z.object({ device: z.string(), suite: z.string(), state: jobState, note: z.string(), verdicts: z.array(z.string()), legsDone: z.int(), legs: z.int() }),
  ),
  done: z.boolean(),
});
export type RunSummary = z.infer<typeof runSummary>;
