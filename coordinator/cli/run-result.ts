/** A run's verdicts as the terminal shows them: a table for people, one object for programs. */
import { worstExit } from '../core/exit.ts';
import type { RunView } from '../protocol/run.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { aaLine, calibrationTable } from './calibration-table.ts';
import { plain, print, table } from './output.ts';

/** What `submit --wait`, `watch` and `demo` print with `--json`. */
export interface RunResult {
  readonly schema: 1;
  readonly run: string;
  readonly url: string;
  readonly arms: readonly { readonly label: string; readonly head: string }[];
  readonly done: boolean;
  readonly verdicts: readonly VerdictResult[];
  /** What was appended to figures of the run. */
  readonly corrections: NonNullable<RunView['corrections']>;
  /** An A/A calibration: what it gave, a case each, and what the head's gain over itself was. Its verdict words are about the device. */
  readonly calibrated?: NonNullable<RunView['calibrated']>;
  readonly selfGains?: readonly string[];
  /** The exit status that the verdicts call for: 0, 1 or 3. Of an A/A calibration: 0 once every case has its figures, else 3. */
  readonly exit: 0 | 1 | 3;
}
interface VerdictResult extends Pick<Verdict, 'device' | 'suite' | 'candidate' | 'evidence' | 'verdict' | 'reason' | 'calibration'> {
  /** A/A floor and false-verdict rates with their date, a case each; empty where the device has none. */
  readonly calibrations: NonNullable<Verdict['calibrations']>;
  readonly digests: readonly {
    readonly case: string;
    readonly baseline: string | null;
    readonly candidate: string | null;
    readonly equal: boolean;
    readonly firstDifferingStep: number | null;
    /** Largest logit difference, by the agent's own word, where the rule asks for logits <= X and the digests differ. */
    readonly attestedDifference?: number;
  }[];
  /** Empty where no gain may be shown; the coordinator has withheld what a failed contract withholds. */
  readonly gains: readonly {
    readonly case: string;
    readonly pairs: number;
    readonly medianPercent: number;
    readonly minPercent: number;
    readonly maxPercent: number;
  }[];
}

/** Collects a run's stored verdicts. */
export function runResult(view: RunView): RunResult {
  const verdicts = view.jobs.flatMap((job) => job.verdicts.map((verdict) => verdictResult(verdict)));
  return {
    schema: 1,
    run: view.run,
    url: view.url,
    arms: view.arms.map(({ label, head }) => ({ label, head })),
    done: view.done,
    verdicts,
    corrections: view.corrections ?? [],
    ...(view.calibrates ? selfMeasured(view) : { exit: worstExit(verdicts.map((entry) => entry.verdict)) }),
  };
}

function selfMeasured(view: RunView): Pick<RunResult, 'calibrated' | 'selfGains' | 'exit'> {
  const calibrated = view.calibrated ?? [];
  const cases = view.jobs.reduce((sum, job) => sum + new Set(job.legs.map((leg) => leg.case)).size, 0);
  const selfGains = view.jobs.flatMap((job) =>
    job.verdicts.flatMap((verdict) => verdict.effects.map((effect) => `${job.device} ${job.suite} ${aaLine(effect)}`)),
  );
  return { calibrated, selfGains, exit: view.done && calibrated.length === cases ? 0 : 3 };
}

/** Prints the table, the reason of each verdict, and the page's address. */
export function printResult(result: RunResult, page = 'page'): void {
  const several = result.arms.length > 2;
  print(
    table(
      ['device', 'suite', ...(several ? ['arm'] : []), 'evidence', 'verdict', 'digests', 'gain (median)'],
      result.verdicts.map((entry) => [
        entry.device,
        entry.suite,
        ...(several ? [entry.candidate] : []),
        entry.evidence,
        result.calibrated === undefined ? entry.verdict : `A/A: ${entry.verdict}`,
        digestCell(entry),
        gainCell(entry),
      ]),
    ),
  );
  print('');
  for (const entry of result.verdicts) {
    print(`${entry.device} ${entry.suite}${several ? ` ${entry.candidate}` : ''}: ${plain(entry.reason)}`);
    if (entry.gains.length > 0 && result.calibrated === undefined) print(`  ${plain(entry.calibration)}`);
  }
  if (result.calibrated !== undefined) printCalibrated(result.calibrated, result.selfGains ?? []);
  for (const { figure, text } of result.corrections) print(`corrected: ${plain(figure)}: ${plain(text)}`);
  print(`${page}: ${result.url}`);
}

function printCalibrated(calibrated: NonNullable<RunResult['calibrated']>, selfGains: readonly string[]): void {
  print('');
  print(calibrated.length === 0 ? 'A/A calibration: no figures' : calibrationTable(calibrated));
  for (const line of selfGains) print(plain(line));
}

function verdictResult(verdict: Verdict): VerdictResult {
  const { device, suite, candidate, evidence, reason, calibration, calibrations = [] } = verdict;
  return {
    device,
    suite,
    candidate,
    evidence,
    verdict: verdict.verdict,
    reason,
    calibration,
    calibrations,
    digests: verdict.identities.map((identity) => ({
      case: identity.case,
      baseline: identity.baselineDigest,
      candidate: identity.candidateDigest,
      equal: identity.status === 'same',
      firstDifferingStep: identity.firstDifferingStep,
      ...(identity.logits === undefined ? {} : { attestedDifference: identity.logits.maxAbsDifference }),
    })),
    gains: verdict.effects.map(({ case: name, pairs, medianPercent, minPercent, maxPercent }) => ({
      case: name,
      pairs: pairs.length,
      medianPercent,
      minPercent,
      maxPercent,
    })),
  };
}

function digestCell({ digests }: VerdictResult): string {
  if (digests.length === 0) return '-';
  const different = digests.filter((entry) => !entry.equal);
  if (different.length === 0) {
    const attested = digests.flatMap((entry) => entry.attestedDifference ?? []);
    if (attested.length > 0) return `within ${Number(Math.max(...attested).toPrecision(3))} (agent-attested)`;
    return digests.every((entry) => entry.baseline === entry.candidate) ? 'equal' : 'as the rule asks';
  }
  return different.map((entry) => `${entry.case} differs${entry.firstDifferingStep === null ? '' : ` from step ${entry.firstDifferingStep}`}`).join(', ');
}

function gainCell({ gains }: VerdictResult): string {
  if (gains.length === 0) return '-';
  return gains.map((gain) => `${gain.case} ${gain.medianPercent >= 0 ? '+' : ''}${gain.medianPercent.toFixed(1)}%`).join(', ');
}
