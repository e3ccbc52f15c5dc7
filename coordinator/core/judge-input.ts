/** What a verdict is computed from: the sealed rule, and what is stored of one job's accepted attempt. Nothing else. */
import type { Evidence } from '../../engine/protocol.ts';
import type { CalibrationMeasured } from '../protocol/calibration.ts';
import type { ManifestSuite } from '../protocol/manifest.ts';
import type { Forecast, LegMeasure, PlannedLeg, Rule } from '../protocol/run.ts';

/** A planned leg with the stored texts of its results. */
export interface JudgedLeg extends PlannedLeg {
  /** Null: the leg was never posted. */
  readonly measure: LegMeasure | null;
  /** The engine's records, verbatim; null where the suite reads none or none were written. */
  readonly records: string | null;
  /** The log blob: stdout, then stderr (`measure.stdoutBytes` says where stdout ends). Null: none stored. */
  readonly log: string | null;
}

/** What is known of the device's own noise, as sealed with the run. */
export interface JudgedNoise {
  /** The driver that the device was registered with at submission; null: unknown. Records, where there are any, know better. */
  readonly driver: string | null;
  /** A case without an entry has no calibration. */
  readonly cases: readonly { readonly case: string; readonly args: readonly string[]; readonly measured: CalibrationMeasured }[];
}

/** One job and one candidate arm. Hand in all of the job's legs; the other candidates' are ignored. */
export interface JudgeInput {
  readonly device: string;
  readonly suite: string;
  readonly kind: ManifestSuite['kind'];
  readonly timed: boolean;
  /** Timed `lines` suites: the printed field that holds the time; absent: the leg's wall time. */
  readonly time?: string;
  /** What the device registered as. */
  readonly evidence: Evidence;
  /** Name of the adapter that the device registered with; absent: any. */
  readonly adapter?: string;
  /** The run's consent to software devices. */
  readonly allowSoftware: boolean;
  /** Arms as written. `candidateArm` is the candidate's index in the run's arms; the baseline's is 0. */
  readonly baseline: string;
  readonly candidate: string;
  readonly candidateArm: number;
  /** Which comparison of the run this is, from 1, as forecasts count them; absent: `candidateArm`. */
  readonly comparison?: number;
  /** Pairs a case that were asked for. */
  readonly pairs: number;
  readonly rule: Rule;
  /** What the submitter expected; absent: nothing. */
  readonly forecast?: Forecast;
  /** Both arms are one head, and their settings differ, but the suite takes none: every leg ran the same command. Absent: no. */
  readonly oneCommand?: true;
  readonly legs: readonly JudgedLeg[];
  /** The merge base of the heads, where the run measured it in a suite that is not timed: all of its legs. */
  readonly mergeBase?: { readonly label: string; readonly legs: readonly JudgedLeg[] };
  /** Cases that only one arm's manifest has, or has otherwise, with why. They are shown, and never `same`. */
  readonly notComparable?: readonly { readonly case: string; readonly note: string }[];
  /** Null: the run was sealed without (by an earlier version, or as an A/A run), and no floor is asked for. */
  readonly calibration: JudgedNoise | null;
}
