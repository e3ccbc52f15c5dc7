/**
 * A receipt: a tar of a finished run's raw files, of the report they gave, and of the SHA-256 of each raw file.
 *
 *   receipt.json             this schema: run, arms with trees, jobs, attempts; with the runs that pairs were added to
 *   raw-files-sha256.txt     `SHA-256  NAME` of every raw file, as `sha256sum --check` reads it
 *   report.json, report.md, report.csv   what the coordinator showed; every figure of them follows from the raw files
 *   runs/RUN/seal.json       the sealed text: rule, forecast, order, verbatim
 *   runs/RUN/DEVICE.SUITE/order.json                                             the planned legs
 *   runs/RUN/DEVICE.SUITE/attempt-N/leg-NNNNN/{measure.json,records.ndjson,log.txt}   what was posted, of every attempt
 *
 * Names are sorted, times are 0, owners are 0: the same run gives the same bytes.
 */
import { z } from 'zod';
import { deviceName, runId, sha256, suiteName } from './ids.ts';
import { manifestSuite } from './manifest.ts';
import { correction, coverageCell, jobView, plannedLeg, runArm } from './run.ts';

export const RECEIPT_FILES = {
  receipt: 'receipt.json',
  hashes: 'raw-files-sha256.txt',
  view: 'report.json',
  markdown: 'report.md',
  csv: 'report.csv',
} as const;

/** `order.json`: legs as planned. */
export const receiptOrder = z.array(plannedLeg.extend({ args: z.array(z.string()), pinnedIds: z.array(z.int()).nullable() }));

const receiptJob = z.object({
  device: deviceName,
  suite: suiteName,
  spec: manifestSuite,
  arms: z.array(z.int()).describe('positions in the run’s arms'),
  notComparable: z.array(z.object({ arm: z.int(), case: z.string(), note: z.string() })),
  ...jobView.pick({ state: true, evidence: true, adapter: true, note: true, attempts: true, acceptedAttempt: true }).shape,
  failure: z.string().nullable().describe('why no attempt could succeed; null: it was judged'),
});
export type ReceiptJob = z.infer<typeof receiptJob>;

const receiptRun = z.object({
  run: runId,
  submittedAt: z.iso.datetime(),
  pairs: z.int(),
  allowSoftware: z.boolean(),
  rule: z.unknown().describe('as the database holds it; the one that counts stands in the sealed text'),
  seal: z.object({ sha256, at: z.iso.datetime(), event: z.string().nullable().describe('the hash that the submission’s event states') }),
  arms: z.array(runArm),
  coverageNotRun: z.array(coverageCell),
  jobs: z.array(receiptJob),
});
export type ReceiptRun = z.infer<typeof receiptRun>;

export const receipt = z.object({
  schema: z.literal(1),
  fleet: z.string().describe('version of fleet that wrote it'),
  runs: z.array(receiptRun).min(1).describe('oldest first: the runs whose pairs were added to, then the run itself'),
  corrections: z.array(correction),
});
export type Receipt = z.infer<typeof receipt>;
