/**
 * One verdict of one job's candidate, in this order and never another: may it be judged, is the output the same, does the
 * contract hold, is the sealed rule met, how large is the effect. A later question is not asked when an earlier one failed,
 * so that no gain is ever shown for a wrong answer.
 */
import type { DecodeRecord } from '../../engine/protocol.ts';
import type { Identity, Verdict, VerdictWord } from '../protocol/verdict.ts';
import { seal } from './canonical.ts';
import { modelOf } from './calibrate.ts';
import { usesText } from './calibration.ts';
import { compareDecode, type DecodedLeg } from './compare-decode.ts';
import { scoreForecast } from './forecast.ts';
import { judgeContract } from './judge-contract.ts';
import { judgeGains, timedPairs, type TimedCase } from './judge-gains.ts';
import type { JudgeInput } from './judge-input.ts';
import { judgeLines } from './judge-lines.ts';
import { machineChange, otherClient, stateDifferences } from './machine-state.ts';
import { checkLegs, legName, legsOf, type ReadLeg } from './validity.ts';

type Findings = Partial<Pick<Verdict, 'identities' | 'lines' | 'contract' | 'effects' | 'calibrations'>> & {
  readonly word: VerdictWord;
  readonly reason: string;
};

/**
 * Judges one candidate arm of one job from what is stored, and nothing else. Pure: the same input gives the same verdict.
 *
 * A contract failure of the same device and candidate withholds the gain of its timed suites; that needs the other jobs'
 * verdicts, so `withholdGains` does it over all verdicts of a run once they are in.
 */
export function judge(input: JudgeInput): Verdict {
  const validity = checkLegs(input);
  if (validity.word !== 'valid') return verdictOf(input, { word: validity.word, reason: sentence(validity.reason) });
  const described = validity.legs.map((leg) => ({ name: legName(input, leg), machine: leg.measure.machine }));
  // Where legs are timed there are pairs, and `judgeGains` leaves out those that shared the GPU.
  const defect = machineChange(described) ?? (input.timed && input.kind !== 'contract' ? null : otherClient(described));
  if (defect !== null) return verdictOf(input, { word: 'void', reason: sentence(defect) });
  const findings = withStates(withOneCommand(input, setAside(input, findingsOf(input, validity.legs))), validity.legs);
  return verdictOf(input, { ...findings, reason: sentence(findings.reason) });
}

/** Puts the differences of the machine's states beside each pair. */
function withStates(findings: Findings, legs: readonly ReadLeg[]): Findings {
  if (findings.effects === undefined) return findings;
  const measured = new Map(legs.map((leg) => [leg.index, leg.measure]));
  const effects = findings.effects.map((effect) => ({
    ...effect,
    pairs: effect.pairs.map((pair) => {
      const machine = stateDifferences(measured.get(pair.baselineLeg)!, measured.get(pair.candidateLeg)!);
      return machine.length === 0 ? pair : { ...pair, machine };
    }),
  }));
  return { ...findings, effects };
}

/** What identifies a job's candidate that was never measured. */
export type NotRunInput = Pick<JudgeInput, 'device' | 'suite' | 'candidate' | 'evidence'>;

/**
 * The verdict of a job that failed before anything could be judged.
 * @param reason why, one sentence, such as `no attempt can succeed: npm ci failed in the baseline's head`.
 */
export function notRunVerdict(input: NotRunInput, reason: string): Verdict {
  return unjudged(input, 'not-run', reason);
}

/**
 * The verdict of a run that is not what was sealed: none. The measured legs stay, and nothing is concluded from them.
 * @param broken how the stored run differs, from `sealDefect`.
 */
export function refusedVerdict(input: Pick<NotRunInput, 'device' | 'suite' | 'candidate' | 'evidence'>, broken: string): Verdict {
  return unjudged(input, 'void', `no verdict: ${broken}`);
}

function unjudged(input: NotRunInput, word: 'not-run' | 'void', reason: string): Verdict {
  return {
    device: input.device,
    suite: input.suite,
    candidate: input.candidate,
    evidence: input.evidence,
    verdict: word,
    reason: sentence(reason),
    identities: [],
    lines: [],
    contract: [],
    effects: [],
    calibration: NO_CALIBRATION,
    computedFrom: seal({
      device: input.device,
      suite: input.suite,
      candidate: input.candidate,
      ...(word === 'void' ? { refused: reason } : { notRun: reason }),
    }).sha256,
  };
}

function findingsOf(input: JudgeInput, legs: readonly ReadLeg[]): Findings {
  if (legs.length === 0) return { word: 'undecided', reason: 'no case of this suite can be compared' };
  switch (input.kind) {
    case 'lines':
      return judgeLines(input, legs);
    case 'contract':
      return judgeContract(input, legs);
    case 'decode':
      return judgeDecode(input, legs);
  }
}

function judgeDecode(input: JudgeInput, legs: readonly ReadLeg[]): Findings {
  const decoded: (ReadLeg & DecodedLeg)[] = [];
  for (const leg of legs) {
    const decode = leg.parsed.find((record): record is DecodeRecord => record.kind === 'decode');
    if (decode === undefined) return { word: 'void', reason: `leg ${leg.index} (${leg.case}) executed but holds no decode record` };
    decoded.push({ ...leg, decode });
  }
  const cases = [...new Set(decoded.map((leg) => leg.case))];
  const arm = (name: string, index: number): (ReadLeg & DecodedLeg)[] => decoded.filter((leg) => leg.case === name && leg.arm === index);
  const identities = cases.map((name) => compareDecode(name, arm(name, 0), arm(name, input.candidateArm), input.rule.identity));

  const differing = identities.filter((item) => item.status === 'differs');
  if (differing.length > 0) return { word: 'output-differs', reason: differing.map(identityReason).join('; '), identities };
  const unlike = identities.find((item) => item.status === 'not-comparable');
  if (unlike !== undefined) return { word: 'undecided', reason: `${unlike.case}: ${unlike.note}`, identities };
  if (input.rule.identity === 'differ') return { word: 'rule-met', reason: 'the outputs differ, as the sealed rule asks; no timing is compared', identities };
  if (!input.timed) return { word: 'same', reason: `${sameWords(identities)}; nothing was timed`, identities };

  const timed: TimedCase[] = [];
  for (const name of cases) {
    const { metric, unlike: definitions } = metricOf(arm(name, 0), arm(name, input.candidateArm));
    if (definitions !== null) return { word: 'undecided', reason: `${name}: ${definitions}`, identities };
    const clocked = decoded.filter((leg) => leg.case === name).map((leg) => ({ ...leg, ms: leg.decode.timing.totalMs }));
    timed.push({ case: name, metric, pairs: timedPairs(clocked, input.candidateArm), ran: ranOn(clocked[0]!) });
  }
  return { ...judgeGains(input, timed, sameWords(identities), legs), identities };
}

/** Driver and model as the leg's own records name them. */
function ranOn({ parsed, measure }: ReadLeg): TimedCase['ran'] {
  return { ...modelOf(parsed), at: measure.startedAt };
}

function sameWords(identities: readonly Identity[]): string {
  const exact = identities.every((item) => item.baselineDigest === item.candidateDigest);
  const pinned = identities.length > 0 && identities.every((item) => item.pinnedIdsMatch === true);
  const attested = identities.flatMap((item) => (item.logits === undefined ? [] : [item.logits.maxAbsDifference]));
  const within = attested.length === 0 ? '' : ` (agent-attested: largest logit difference ${Number(Math.max(...attested).toPrecision(3))})`;
  return `${exact ? 'every digest equal' : `output the same as the sealed identity asks${within}`}${pinned ? ', pinned ids met' : ''}`;
}

function identityReason(item: Identity): string {
  const step = item.firstDifferingStep === null ? '' : `, first differing step ${item.firstDifferingStep}`;
  return `${item.case}: ${item.note}${step}`;
}

/** Times are comparable only when every leg timed the same interval. */
function metricOf(baseline: readonly DecodedLeg[], candidate: readonly DecodedLeg[]): { metric: string; unlike: string | null } {
  const texts = [...baseline, ...candidate].map(({ decode }) => `${decode.timing.definition}${decode.timing.logitsReadBack ? ' (logits read back)' : ''}`);
  const distinct = [...new Set(texts)];
  return { metric: distinct[0]!, unlike: distinct.length === 1 ? null : `the arms time different intervals: ${distinct.join(' | ')}` };
}

/** Without this, `same` reads as if the settings had been tried. */
function withOneCommand(input: JudgeInput, findings: Findings): Findings {
  if (input.oneCommand === undefined) return findings;
  return { ...findings, reason: `${findings.reason}; the suite takes no settings, so both arms ran the same command` };
}

/** Cases that cannot be compared are shown, and keep a verdict that would be good from being one. */
function setAside(input: JudgeInput, findings: Findings): Findings {
  const aside = input.notComparable ?? [];
  if (aside.length === 0) return findings;
  const reason = `not comparable: ${aside.map((item) => `${item.case} (${item.note})`).join(', ')}`;
  const shown: Findings = {
    ...findings,
    ...(input.kind === 'contract'
      ? {
          contract: [
            ...(findings.contract ?? []),
            ...aside.map((item) => ({ kernel: `case ${item.case}`, status: 'not-comparable' as const, baseline: '', candidate: '', note: item.note })),
          ],
        }
      : {
          identities: [
            ...(findings.identities ?? []),
            ...aside.map((item) => ({
              case: item.case,
              status: 'not-comparable' as const,
              baselineDigest: null,
              candidateDigest: null,
              pinnedIdsMatch: null,
              firstDifferingStep: null,
              note: item.note,
            })),
          ],
        }),
  };
  const good = findings.word === 'same' || findings.word === 'fixed' || findings.word === 'rule-met' || findings.word === 'pre-existing';
  return good
    ? { ...shown, word: 'undecided', reason: `${reason}; otherwise ${findings.word}: ${findings.reason}` }
    : { ...shown, reason: `${findings.reason}; ${reason}` };
}

function verdictOf(input: JudgeInput, findings: Findings): Verdict {
  return {
    device: input.device,
    suite: input.suite,
    candidate: input.candidate,
    evidence: input.evidence,
    verdict: findings.word,
    reason: findings.reason,
    identities: findings.identities ?? [],
    lines: findings.lines ?? [],
    contract: findings.contract ?? [],
    effects: findings.effects ?? [],
    forecasts: scoreForecast(input.forecast ?? null, input.device, input.comparison ?? input.candidateArm, findings.effects ?? []),
    calibration: calibrationText(input, findings),
    ...(findings.calibrations?.length ? { calibrations: findings.calibrations } : {}),
    computedFrom: computedFrom(input),
  };
}

const NO_CALIBRATION = 'no A/A calibration';

function calibrationText({ calibration, device, timed }: JudgeInput, { effects, calibrations }: Findings): string {
  if (calibration === null) return NO_CALIBRATION;
  if (!timed) return 'nothing is timed, so no A/A floor is asked for';
  return effects === undefined && calibration.cases.length > 0 ? 'no gain is held against the A/A floor' : usesText(device, calibrations ?? []);
}

/** Everything that the verdict depends on: rule, calibration, and the stored texts of the two arms' legs. */
function computedFrom(input: JudgeInput): string {
  const { legs: _, ...rest } = input;
  return seal({ ...rest, legs: legsOf(input) }).sha256;
}

/** Ends with a full stop. The first letter stays as it is: it may be that of a case or a leg. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
