/** `lines` suites: what each command printed and how it ended, head against head. */
import type { LineRow, Verdict, VerdictWord } from '../protocol/verdict.ts';
import { compareLines, linesOf, stdoutOf } from './compare-lines.ts';
import { judgeGains, timedPairs, type TimedCase } from './judge-gains.ts';
import type { JudgeInput } from './judge-input.ts';
import { failuresOf, maskLine } from './mask.ts';
import { readMergeBase, type MergeBase } from './merge-base.ts';
import { ending, legName, type ReadLeg } from './validity.ts';

/** What one case shows. `word` is the case's own; the suite's is the worst of them. */
interface CaseFinding {
  readonly name: string;
  readonly word: Extract<VerdictWord, 'new-failure' | 'output-differs' | 'pre-existing' | 'fixed' | 'same'>;
  readonly reason: string;
  readonly rows: readonly LineRow[];
}

/** Worst first. */
const ORDER = ['new-failure', 'output-differs', 'pre-existing', 'fixed', 'same'] as const;

/**
 * Compares every case's stdout with its times masked; tallies and exit statuses tell a failure from another difference. Where all is
 * the same and the suite is timed, the sealed rule decides.
 */
export function judgeLines(
  input: JudgeInput,
  legs: readonly ReadLeg[],
): Pick<Verdict, 'lines'> & Partial<Pick<Verdict, 'effects' | 'calibrations'>> & { word: VerdictWord; reason: string } {
  const base = readMergeBase(input);
  const findings = [...new Set(legs.map((leg) => leg.case))].map((name) => {
    const own = legs.filter((leg) => leg.case === name);
    const found = judgeCase(
      name,
      own.filter((leg) => leg.arm === 0),
      own.filter((leg) => leg.arm === input.candidateArm),
    );
    return base === null || found.word !== 'pre-existing' ? found : sinceMergeBase(found, base);
  });
  const lines = findings.flatMap((finding) => finding.rows);
  const word = ORDER.find((candidate) => findings.some((finding) => finding.word === candidate)) ?? 'same';
  const telling = findings.filter((finding) => finding.word === word);
  if (word !== 'same') return { word, reason: telling.map((finding) => finding.reason).join('; '), lines };
  const masked = [...new Set(lines.flatMap((row) => row.masked))];
  const outside = masked.length === 0 ? '' : `, outside of the masked ${masked.join(', ')}`;
  const same = `${lines.length} ${lines.length === 1 ? 'line' : 'lines'} of ${findings.length} ${findings.length === 1 ? 'case' : 'cases'} equal${outside}`;
  if (!input.timed) return { word, reason: same, lines };
  const timed = timedCases(input, legs);
  return typeof timed === 'string' ? { word: 'void', reason: timed, lines } : { ...judgeGains(input, timed, same, legs), lines };
}

/** A failure in both arms is one from before only if the merge base fails in that case too. */
function sinceMergeBase(found: CaseFinding, base: MergeBase): CaseFinding {
  if ('unknown' in base) return { ...found, reason: `${found.reason}; the merge base tells nothing: ${base.unknown}` };
  const before = base.legs.filter((leg) => leg.case === found.name);
  const fails = before.some((leg) => failureOf(leg) !== null || tallied(leg) > 0);
  return fails
    ? { ...found, reason: `${found.reason}; the merge base fails too` }
    : { ...found, word: 'new-failure', reason: `${found.reason}; both heads fail and their merge base does not` };
}

/** Failures that a leg's tallies state. */
const tallied = (leg: ReadLeg): number =>
  linesOfLeg(leg).reduce((sum, line) => {
    const { tally } = maskLine(line);
    return sum + (tally === null ? 0 : failuresOf(tally));
  }, 0);

/** Every case's pairs by the printed field that the manifest names, else by the agent's clock; or why a leg has no time. */
function timedCases(input: JudgeInput, legs: readonly ReadLeg[]): TimedCase[] | string {
  const metric = input.time === undefined ? 'wall time of the process, by the agent’s clock' : `the printed field ${input.time}`;
  const times: { case: string; index: number; arm: number; pair: number | null; ms: number }[] = [];
  for (const leg of legs) {
    const printed = input.time === undefined ? [leg.measure.wallMs] : printedTimes(leg, input.time);
    if (printed.length !== 1 || !(printed[0]! > 0))
      return `${legName(input, leg)} prints ${printed.length === 1 ? 'no positive time' : `${printed.length} times`} as ${input.time ?? 'its wall time'}, and one is needed`;
    times.push({ case: leg.case, index: leg.index, arm: leg.arm, pair: leg.pair, ms: printed[0]! });
  }
  return [...new Set(times.map((leg) => leg.case))].map((name) => ({
    case: name,
    metric,
    ran: { driver: null, model: null, at: legs.find((leg) => leg.case === name)!.measure.startedAt },
    pairs: timedPairs(
      times.filter((leg) => leg.case === name),
      input.candidateArm,
    ),
  }));
}

function printedTimes(leg: ReadLeg, name: string): number[] {
  return linesOfLeg(leg).flatMap((line) =>
    maskLine(line)
      .times.filter((time) => time.name === name)
      .map((time) => time.ms),
  );
}

const linesOfLeg = (leg: ReadLeg): string[] => linesOf(stdoutOf(leg.log ?? '', leg.measure.stdoutBytes));
/** How the command failed, or null. A status that is not zero is the command's own finding. */
function failureOf(leg: ReadLeg): string | null {
  const { outcome, exitCode } = leg.measure;
  if (outcome === 'timeout' || outcome === 'signal') return ending(leg.measure);
  return exitCode === 0 ? null : `exit status ${exitCode ?? 'unknown'}`;
}

function judgeCase(name: string, baseline: readonly ReadLeg[], candidate: readonly ReadLeg[]): CaseFinding {
  const left = baseline[0]!;
  const right = candidate[0]!;
  const compared = compareLines(name, linesOfLeg(left), linesOfLeg(right));
  const { rows, differing, count } = compared;
  const finding = (word: CaseFinding['word'], reason: string): CaseFinding => ({ name, word, reason: `${name}: ${reason}`, rows });

  for (const legs of [baseline, candidate]) {
    const unlike = legs.find((leg) => failureOf(leg) !== failureOf(legs[0]!) || compareLines(name, linesOfLeg(legs[0]!), linesOfLeg(leg)).differing > 0);
    if (unlike !== undefined) return finding('output-differs', `legs ${legs[0]!.index} and ${unlike.index} of one arm already differ`);
  }
  const [before, after] = [failureOf(left), failureOf(right)];
  const [failsBefore, failsAfter] = [compared.baselineFailures ?? 0, compared.candidateFailures ?? 0];
  const shown = firstDifference(rows);
  if (after !== null && after !== before)
    return finding('new-failure', `the candidate ${ended(after)}, the baseline ${before === null ? 'exits with 0' : ended(before)}`);
  if (failsAfter > failsBefore) return finding('new-failure', `${failures(failsAfter)} against ${failsBefore} in the baseline`);
  if (before !== null && after === null) return finding('fixed', `the baseline ${ended(before)}, the candidate exits with 0`);
  if (failsAfter < failsBefore) return finding(failsAfter === 0 ? 'fixed' : 'pre-existing', `${failures(failsAfter)} against ${failsBefore} in the baseline`);
  if (differing > 0) return finding('output-differs', `${differing} of ${count} lines differ${shown}`);
  if (after !== null) return finding('pre-existing', `both arms ${ended(after).replace('exits', 'exit')}, and their lines are equal`);
  if (failsAfter > 0) return finding('pre-existing', `the same ${failures(failsAfter)} in both arms`);
  return finding('same', 'equal');
}

const failures = (count: number): string => `${count} ${count === 1 ? 'failure' : 'failures'}`;
const ended = (failure: string): string => (failure.startsWith('exit status') ? `exits with ${failure.slice('exit status '.length)}` : failure);

function firstDifference(rows: readonly LineRow[]): string {
  const row = rows.find((item) => item.status !== 'equal');
  if (row === undefined) return '';
  const quote = (line: string | null): string => (line === null ? 'no line' : `"${line.length > 80 ? `${line.slice(0, 79)}…` : line}"`);
  return `, first ${quote(row.baseline)} against ${quote(row.candidate)}`;
}
