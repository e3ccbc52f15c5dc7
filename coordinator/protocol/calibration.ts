/** A/A calibration: a head against itself on one device, and what that says of the device's noise. */
import { z } from 'zod';
import { evidence } from '../../engine/protocol.ts';
import { caseName, casePath, deviceName, orderSeed, runId, settings, sha1, suiteName } from './ids.ts';

/** Hits of some number of tries. */
const share = z.strictObject({ hits: z.int().min(0), of: z.int().min(0) });

/** What was measured, and on what: another of these makes a calibration stale. Pair by pair, in run order, ms. */
export const calibrationMeasured = z.strictObject({
  run: runId,
  at: z.iso.datetime().describe('start of the last leg'),
  device: deviceName,
  evidence,
  adapter: z.string(),
  driver: z.string(),
  suite: suiteName,
  case: caseName,
  args: z.array(z.string()).describe('of the case'),
  model: z.string().nullable().describe('id and SHA-256, as decode records state them; null in other suites'),
  head: sha1,
  settings,
  metric: z.string(),
  baselineMs: z.array(z.number().positive()).min(1),
  candidateMs: z.array(z.number().positive()).min(1),
});
export type CalibrationMeasured = z.infer<typeof calibrationMeasured>;

/** What follows from it (core/calibration.ts). */
export const calibration = calibrationMeasured.extend({
  floor: z.strictObject({ pairs: z.int(), percent: z.number() }).describe('the A/A floor of a series of the default number of pairs'),
  falseVerdicts: z
    .strictObject({ pairs: z.int(), rule: z.string(), simulated: share, counted: share })
    .describe('how often the default rule is met where nothing changed: in series drawn from these legs, and in the series that were measured'),
});
export type Calibration = z.infer<typeof calibration>;

/** The calibration that a run's verdicts of one case use: sealed with the run, so that it can be chosen by nobody afterwards. */
export const sealedCalibration = z.strictObject({ device: deviceName, suite: suiteName, case: caseName, measured: calibrationMeasured });
export type SealedCalibration = z.infer<typeof sealedCalibration>;

/** A calibration as one verdict used it, for a case: the figures are those of that many pairs and of the sealed rule. */
export const calibrationUse = z.object({
  case: z.string(),
  run: runId.describe('the A/A run'),
  at: z.iso.datetime(),
  measured: z.string().describe('SUITE/CASE that the A/A run measured'),
  ofPairs: z.int().describe('pairs of the A/A run'),
  pairs: z.int().describe('pairs that floor and rate are of; at most 20, which more are simulated as'),
  floorPercent: z.number(),
  simulated: share.describe('series without a change that meet the sealed rule, drawn from the A/A run’s legs'),
  counted: share.describe('the same, of the series of so many pairs that the A/A run holds one after another'),
  stale: z.string().nullable().describe('why it may not hold any more'),
});
export type CalibrationUse = z.infer<typeof calibrationUse>;

/** POST /api/calibrations: one head against itself on one device. */
export const calibrateRequest = z.strictObject({
  arm: z.strictObject({ label: z.string().min(1).max(190), head: sha1, settings }),
  device: deviceName,
  /** Default: every timed suite of the head's manifest. */
  suites: z.array(suiteName).min(1).optional(),
  cases: z.array(casePath).min(1).optional(),
  pairs: z.int().min(3).max(500).default(20),
  seed: orderSeed.optional(),
  allowSoftware: z.boolean().default(false),
  key: z.string().min(8).max(64),
});
export type CalibrateRequest = z.infer<typeof calibrateRequest>;

/** GET /api/calibrations: newest first; `stale` as of now, for the same suite and case. */
export const calibrationList = z.object({ schema: z.literal(1), calibrations: z.array(calibration.extend({ stale: z.string().nullable() })) });
export type CalibrationList = z.infer<typeof calibrationList>;
