/** A run computed anew from the raw files of its receipt, as the coordinator computes it from its database. */
import type { Receipt, ReceiptJob, ReceiptRun } from '../protocol/receipt.ts';
import { rule as ruleShape, type JobView, type RunView } from '../protocol/run.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { byCase, calibratingRun, calibrationsOf } from './calibrate.ts';
import { sha256Hex } from './canonical.ts';
import { coverageOf, shownCoverage } from './coverage.ts';
import type { JudgedLeg } from './judge-input.ts';
import { failedJobOf, judgeJobOf, type JudgedRun } from './judge-job.ts';
import { fileText, readLeg, readOrder, readReceipt, sealFile, type ReceiptFiles } from './receipt.ts';
import { ReceiptError } from './receipt-error.ts';
import { readSeal, sealDefect } from './sealed.ts';
import { refusedVerdict } from './verdict.ts';
import { withholdGains } from './withhold.ts';

/** The address of a run in its receipt, which belongs to no coordinator. */
export const receiptUrl = (run: string): string => `urn:fleet:${run}`;

/**
 * Judges the receipt's run again and assembles it. Nothing is taken from the report beside the raw files. Legs of another mode pooled
 * over other runs are left out: one run's files cannot give them.
 * @throws ReceiptError when a raw file is missing or cannot be read.
 */
export function viewOfReceipt(files: ReceiptFiles): RunView {
  const receipt = readReceipt(files);
  const run = receipt.runs.at(-1)!;
  const broken = brokenChain(files, receipt.runs);
  const judged = run.jobs.map((job) => ({ job, verdicts: verdictsOf(files, receipt, job, broken) }));
  const text = fileText(files, sealFile(run.run));
  const labels = run.arms.map((arm) => arm.label);
  const views = withheld(judged).map(({ job, verdicts }) => viewJob(files, run, job, verdicts));
  return {
    schema: 1,
    run: run.run,
    url: receiptUrl(run.run),
    submittedAt: run.submittedAt,
    arms: run.arms,
    pairs: run.pairs,
    ...termsOf(text, run),
    seal: { sha256: run.seal.sha256, at: run.seal.at, text, broken },
    ...(broken === null ? calibratedOf(files, run, judged) : {}),
    done: run.jobs.every((job) => job.state === 'judged' || job.state === 'failed'),
    jobs: views,
    coverage: shownCoverage([...run.jobs.flatMap((job) => coverageOf(job, labels)), ...run.coverageNotRun], views),
    ...(receipt.corrections.length === 0 ? {} : { corrections: receipt.corrections }),
  };
}

function termsOf(text: string, run: ReceiptRun): Pick<RunView, 'rule' | 'forecast' | 'extends' | 'stack' | 'seed' | 'mergeBase' | 'calibrates'> {
  try {
    return readSeal(text);
  } catch {
    const stored = ruleShape.safeParse(run.rule);
    if (!stored.success) throw new ReceiptError(`run ${run.run} has no rule that can be read`);
    return { rule: stored.data, forecast: null, extends: null, stack: false };
  }
}

/** How the last of these runs, or one that it adds to, differs from what was sealed. */
function brokenChain(files: ReceiptFiles, runs: readonly ReceiptRun[]): string | null {
  const run = runs.at(-1)!;
  const text = fileText(files, sealFile(run.run));
  const own = sealDefect({
    sealText: text,
    sealSha256: run.seal.sha256,
    sealEvent: run.seal.event,
    rule: run.rule,
    pairs: run.pairs,
    allowSoftware: run.allowSoftware,
    arms: run.arms.map(({ label, head, settings, tree }) => ({ label, head, settings, tree })),
    jobs: run.jobs.map(({ device, suite, spec }) => ({ suite, spec, legs: readOrder(files, run.run, device, suite) })),
  });
  if (own !== null) return own;
  const before = readSeal(text).extends;
  if (before === null) return null;
  const earlier = runs.at(-2);
  if (earlier?.run !== before.run || earlier.seal.sha256 !== before.sha256)
    return `run ${before.run}, whose pairs these were added to, is no longer what it was`;
  const defect = brokenChain(files, runs.slice(0, -1));
  return defect === null ? null : `run ${before.run}, whose pairs these were added to: ${defect}`;
}

function verdictsOf(files: ReceiptFiles, { runs }: Receipt, job: ReceiptJob, broken: string | null): Verdict[] {
  const run = runs.at(-1)!;
  const judged: JudgedRun = {
    sealText: fileText(files, sealFile(run.run)),
    allowSoftware: run.allowSoftware,
    labels: run.arms.map((arm) => arm.label),
  };
  if (job.failure !== null) {
    const failed = failedJobOf(judged, job, job.failure).map(({ verdict }) => verdict);
    return broken === null ? failed : failed.map((verdict) => refusedVerdict(verdict, broken));
  }
  if (job.state !== 'judged') return [];
  const before = runs.slice(0, -1).flatMap((earlier) => {
    const there = earlier.jobs.find((item) => item.device === job.device && item.suite === job.suite && item.acceptedAttempt !== null);
    return there === undefined ? [] : [{ run: earlier, job: there }];
  });
  const legs = [...before, { run, job }].flatMap((item) => judgedLegs(files, item.run, item.job));
  const pairs = before.reduce((sum, item) => sum + item.run.pairs, run.pairs);
  return judgeJobOf(judged, job, legs, pairs, broken).map(({ verdict }) => verdict);
}

/** The planned legs with what the shown attempt posted for each. */
function judgedLegs(files: ReceiptFiles, { run }: ReceiptRun, job: ReceiptJob): JudgedLeg[] {
  const attempt = job.acceptedAttempt ?? job.attempts.at(-1)?.number ?? null;
  return readOrder(files, run, job.device, job.suite).map(({ index, arm, case: name, pair }) => ({
    index,
    arm,
    case: name,
    pair,
    ...(attempt === null ? { measure: null, records: null, log: null } : readLeg(files, run, job, attempt, index)),
  }));
}

function viewJob(files: ReceiptFiles, run: ReceiptRun, job: ReceiptJob, verdicts: Verdict[]): JobView {
  const hash = (text: string | null): string | null => (text === null ? null : sha256Hex(text));
  const { device, suite, spec, state, evidence, adapter, note, attempts, acceptedAttempt } = job;
  const legs = judgedLegs(files, run, job).map((leg) => ({ ...leg, log: hash(leg.log), records: hash(leg.records) }));
  return { job: `${run.run}.${device}.${suite}`, device, suite, kind: spec.kind, state, evidence, adapter, note, attempts, acceptedAttempt, legs, verdicts };
}

/** What an A/A run gave, computed anew from verdicts as judged; nothing of another run. */
function calibratedOf(files: ReceiptFiles, run: ReceiptRun, jobs: readonly { job: ReceiptJob; verdicts: Verdict[] }[]): Pick<RunView, 'calibrated'> {
  const text = fileText(files, sealFile(run.run));
  if (!readSeal(text).calibrates) return {};
  const of = calibratingRun(run.run, text);
  return { calibrated: jobs.flatMap(({ job, verdicts }) => calibrationsOf(of, job, verdicts[0], judgedLegs(files, run, job))).toSorted(byCase) };
}

/** A contract failure withholds the gains of its device's other jobs. */
function withheld(jobs: readonly { job: ReceiptJob; verdicts: Verdict[] }[]): { job: ReceiptJob; verdicts: Verdict[] }[] {
  const shown = withholdGains(jobs.flatMap(({ verdicts }) => verdicts));
  let start = 0;
  return jobs.map(({ job, verdicts }) => ({ job, verdicts: shown.slice(start, (start += verdicts.length)) }));
}
