/** All verdicts of one job, from what is stored of its run: the comparisons of the sealed text, each judged by its rule. */
import type { Evidence } from '../../engine/protocol.ts';
import type { ManifestSuite } from '../protocol/manifest.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { canonicalJson } from './canonical.ts';
import { comparedCount, comparisonLabel, comparisonsOf, type Comparison } from './comparisons.ts';
import type { JudgedLeg, JudgedNoise } from './judge-input.ts';
import { readSeal, sealedArms, sealedNoise } from './sealed.ts';
import { judge, notRunVerdict, refusedVerdict } from './verdict.ts';

/** A run as far as its verdicts depend on it. */
export interface JudgedRun {
  readonly sealText: string;
  readonly allowSoftware: boolean;
  /** Arms as written. */
  readonly labels: readonly string[];
}

/** A job as far as its verdicts depend on it. `arms` are positions in the run's arms. */
export interface JudgedJob {
  readonly device: string;
  readonly suite: string;
  readonly spec: ManifestSuite;
  readonly evidence: Evidence;
  readonly adapter: string;
  readonly arms: readonly number[];
  readonly notComparable: readonly { readonly arm: number; readonly case: string; readonly note: string }[];
}

/** A verdict and its number among the run's comparisons, from 1: the candidate's position in runs that are no stack. */
export interface NumberedVerdict {
  readonly arm: number;
  readonly verdict: Verdict;
}

/**
 * Judges a job whose attempt was accepted.
 * @param legs all of the job's, after those of the runs whose pairs it adds to; `pairs` counts the pairs a case of them all.
 * @param broken how the run differs from what was sealed, from `sealDefect`; null when it does not.
 */
export function judgeJobOf(run: JudgedRun, job: JudgedJob, legs: readonly JudgedLeg[], pairs: number, broken: string | null): NumberedVerdict[] {
  const compared = comparedArms(run);
  const { device, suite, evidence } = job;
  if (broken !== null) return compared.map(({ arm, label: candidate }) => ({ arm, verdict: refusedVerdict({ device, suite, candidate, evidence }, broken) }));
  // The rule comes from the sealed text, which `broken` says is held to its hash.
  const { rule, forecast, stack, mergeBase, calibrates } = readSeal(run.sealText);
  const calibration = noiseOf(run.sealText, job);
  const arms = sealedArms(run.sealText);
  return compared.map(({ arm, label, baseline, candidate }) => {
    const absent = [candidate, baseline].find((position) => !job.arms.includes(position));
    if (absent !== undefined) return { arm, verdict: notRunVerdict({ device, suite, candidate: label, evidence }, lacksSuite(run.labels[absent]!, suite)) };
    const verdict = judge({
      device,
      suite,
      kind: job.spec.kind,
      timed: job.spec.timed,
      ...(job.spec.time === undefined ? {} : { time: job.spec.time }),
      evidence,
      adapter: job.adapter,
      allowSoftware: run.allowSoftware,
      baseline: run.labels[baseline]!,
      candidate: label,
      candidateArm: candidate,
      ...(stack ? { comparison: arm } : {}),
      ...(isOneCommand(job, arms[baseline]!, arms[candidate]!) ? { oneCommand: true } : {}),
      pairs,
      rule,
      ...(forecast === null ? {} : { forecast }),
      legs: asBaseline(legs, baseline),
      ...(mergeBase === undefined || job.spec.timed ? {} : { mergeBase: { label: run.labels[mergeBase]!, legs: legs.filter((leg) => leg.arm === mergeBase) } }),
      notComparable: job.notComparable
        .filter((item) => item.arm === candidate || (item.arm === baseline && baseline > 0))
        .map((item) => ({ case: item.case, note: item.note })),
      calibration,
    });
    return { arm, verdict: calibrates ? ofDevice(verdict) : verdict };
  });
}

/** The calibrations that were sealed for a job's cases. */
function noiseOf(sealText: string, { device, suite, spec }: JudgedJob): JudgedNoise | null {
  const { drivers, calibrations } = sealedNoise(sealText);
  if (calibrations === null) return null;
  const own = calibrations.filter((item) => item.device === device && item.suite === suite);
  return {
    driver: drivers[device] ?? null,
    cases: own.map(({ case: name, measured }) => ({ case: name, args: spec.cases.find((item) => item.name === name)?.args ?? [], measured })),
  };
}

/** A verdict of an A/A run is about the device: wherever its reason is read, it says so. */
export const ofDevice = (verdict: Verdict): Verdict => ({
  ...verdict,
  reason: `A/A calibration, both arms are one head: ${verdict.reason}`,
  calibration: 'this run measures the A/A floor itself',
});

type SealedArm = ReturnType<typeof sealedArms>[number];

/** Settings that differ and reach no leg, since the suite takes none. */
function isOneCommand({ spec }: JudgedJob, baseline: SealedArm, candidate: SealedArm): boolean {
  return !spec.settings && baseline.head === candidate.head && canonicalJson(baseline.settings) !== canonicalJson(candidate.settings);
}

/** The verdicts of a job that failed: `not-run`, one a comparison, with the reason. */
export function failedJobOf(run: JudgedRun, job: Pick<JudgedJob, 'device' | 'suite' | 'evidence'>, reason: string): NumberedVerdict[] {
  const { device, suite, evidence } = job;
  return comparedArms(run).map(({ arm, label: candidate }) => ({ arm, verdict: notRunVerdict({ device, suite, candidate, evidence }, reason) }));
}

export const lacksSuite = (label: string, suite: string): string => `not comparable: the fleet.json of ${label} has no suite ${suite}`;

function comparedArms({ labels, sealText }: JudgedRun): (Comparison & NumberedLabel)[] {
  const { stack, mergeBase } = shapeOf(sealText);
  return comparisonsOf(comparedCount(labels.length, mergeBase), stack).map((item, at) => ({
    ...item,
    arm: at + 1,
    label: comparisonLabel(item, labels, stack),
  }));
}

interface NumberedLabel {
  readonly arm: number;
  readonly label: string;
}

/** A seal that cannot be read any more gets a verdict that says so, and needs the comparisons for it. */
function shapeOf(sealText: string): { readonly stack: boolean; readonly mergeBase?: number } {
  try {
    return readSeal(sealText);
  } catch {
    return { stack: false };
  }
}

/** A verdict calls its baseline arm 0: legs of that arm are, and those of the first arm are none of its business. */
function asBaseline(legs: readonly JudgedLeg[], baseline: number): JudgedLeg[] {
  return baseline === 0 ? [...legs] : legs.filter((leg) => leg.arm !== 0).map((leg) => (leg.arm === baseline ? { ...leg, arm: 0 } : leg));
}
