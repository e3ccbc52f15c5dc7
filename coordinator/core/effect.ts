/** The effect of one case: its pairs' gains, what they can and cannot show, and what the sealed rule says to them. */
import type { Rule } from '../protocol/run.ts';
import type { Effect, PairRow } from '../protocol/verdict.ts';
import { applyRule, onlyFloor, type RuleAnswer } from './apply-rule.ts';
import { fisherExact } from './fisher.ts';
import { hodgesLehmann } from './hodges-lehmann.ts';
import { countModes, otherModes } from './modes.ts';
import { orderEffect } from './order-effect.ts';
import { pairsNeeded } from './pairs-needed.ts';
import { pairsToReach, signFlipP, smallestP } from './sign-flip.ts';
import { median, pairedGains } from './statistics.ts';

/** Two legs that ran next to each other, with the times that are compared. */
export interface TimedPair {
  readonly pair: number;
  readonly baselineLeg: number;
  readonly candidateLeg: number;
  readonly baselineMs: number;
  readonly candidateMs: number;
}

export interface CaseEffect {
  readonly effect: Effect;
  /** Null: the rule decides. Otherwise why it does not, with how many more pairs are needed. */
  readonly undecided: string | null;
}

/** Fewer pairs than this decide nothing: the sealed rule is one of three pairs. */
export const LEAST_PAIRS = 3;

/** Gains of a case's pairs, what flags them, and what the rule says. */
interface Decision {
  readonly gainPercent: readonly number[];
  readonly medianPercent: number;
  /** Each leg's time over its arm's median where it ran in another mode. */
  readonly slowBaseline: readonly (number | null)[];
  readonly slowCandidate: readonly (number | null)[];
  /** Gains of pairs without such a leg. */
  readonly unflagged: readonly number[];
  readonly ruleMet: boolean;
  readonly ruleNote: string;
  readonly undecided: string | null;
}

/**
 * The rule on one case's pairs, and nothing that it does not need.
 * @param floorPercent the A/A floor; null: the device has none.
 */
export function decideCase(name: string, pairs: readonly Pick<TimedPair, 'baselineMs' | 'candidateMs'>[], rule: Rule, floorPercent: number | null): Decision {
  const baselineMs = pairs.map((pair) => pair.baselineMs);
  const candidateMs = pairs.map((pair) => pair.candidateMs);
  const gains = pairedGains(baselineMs, candidateMs);
  const [slowBaseline, slowCandidate] = [otherModes(baselineMs), otherModes(candidateMs)];
  const unflagged = gains.gainPercent.filter((_, i) => slowBaseline[i] === null && slowCandidate[i] === null);
  const answer = applyRule(rule, gains.gainPercent, floorPercent);
  const ruleMet = answer.met && answer.morePairs === null;
  return {
    ...gains,
    slowBaseline,
    slowCandidate,
    unflagged,
    ruleMet,
    ruleNote: answer.note,
    undecided: undecided(name, pairs.length, ruleMet, answer, unflagged, rule, floorPercent),
  };
}

/**
 * Computes one case's effect.
 * @param metric what was timed, with its definition.
 * @param pairs in run order, at least one.
 * @param floorPercent the A/A floor; null: the device has none.
 */
export function caseEffect(name: string, metric: string, pairs: readonly TimedPair[], rule: Rule, floorPercent: number | null): CaseEffect {
  const baselineMs = pairs.map((pair) => pair.baselineMs);
  const candidateMs = pairs.map((pair) => pair.candidateMs);
  const decision = decideCase(name, pairs, rule, floorPercent);
  const { gainPercent, medianPercent, slowBaseline, slowCandidate, unflagged } = decision;
  const modes = countModes(baselineMs, candidateMs);
  const needed = pairsNeeded(gainPercent);
  const rows: PairRow[] = pairs.map((pair, i) => ({
    case: name,
    pair: pair.pair,
    order: pair.baselineLeg < pair.candidateLeg ? 'baseline-first' : 'candidate-first',
    baselineLeg: pair.baselineLeg,
    candidateLeg: pair.candidateLeg,
    baselineMs: pair.baselineMs,
    candidateMs: pair.candidateMs,
    gainPercent: gainPercent[i]!,
    flags: [flag('baseline', slowBaseline[i]), flag('candidate', slowCandidate[i])].filter((text) => text !== null),
  }));
  const flagged = rows.length - unflagged.length;
  const { estimate, interval } = hodgesLehmann(gainPercent);
  const effect: Effect = {
    case: name,
    metric,
    pairs: rows,
    medianPercent,
    minPercent: Math.min(...gainPercent),
    maxPercent: Math.max(...gainPercent),
    everyPairPositive: gainPercent.every((gain) => gain > 0),
    hodgesLehmannPercent: estimate,
    interval,
    signFlipP: signFlipP(gainPercent),
    smallestP: smallestP(rows.length),
    signFlipTwoSidedP: signFlipP(gainPercent, 'two-sided'),
    order: orderEffect(rows),
    modes: { ...modes, fisherP: fisherExact(modes.baseline, modes.candidate).twoSided },
    morePairs: needed === null ? null : Math.max(0, needed - rows.length),
    medianWithoutFlaggedPercent: flagged === 0 || unflagged.length === 0 ? null : median(unflagged),
    ruleMet: decision.ruleMet,
    ruleNote: decision.ruleNote,
  };
  return { effect, undecided: decision.undecided };
}

const flag = (arm: string, times: number | null | undefined): string | null =>
  times === null || times === undefined ? null : `${arm} leg ${times.toFixed(2)}× its arm’s median: another mode`;

/** Too few pairs, conditions that they cannot answer, or an answer that hangs on legs which ran in another mode. */
function undecided(
  name: string,
  pairs: number,
  ruleMet: boolean,
  answer: RuleAnswer,
  unflagged: readonly number[],
  rule: Rule,
  floorPercent: number | null,
): string | null {
  if (rule.clauses.length === 0) return null;
  if (onlyFloor(rule, floorPercent))
    return `${name}: the rule asks for the A/A floor alone, and there is no calibration. next: fleet calibrate, then submit anew`;
  if (pairs < LEAST_PAIRS) {
    const decide = pairs === 1 ? 'pair decides' : 'pairs decide';
    return `${name}: ${pairs} ${decide} nothing (least p ${smallestP(pairs)}): at least ${LEAST_PAIRS} pairs are needed, and ${pairsToReach(0.05)} can reach p ≤ 0.05; fleet pairs add RUN ${LEAST_PAIRS - pairs}`;
  }
  if (answer.met && answer.morePairs !== null) return `${name}: ${answer.note}; ${more(answer.morePairs)} needed`;
  const flagged = pairs - unflagged.length;
  if (flagged === 0) return null;
  if (unflagged.length === 0) return `${name}: every pair holds a leg of another mode; ${LEAST_PAIRS} more pairs without one are needed`;
  if (applyRule(rule, unflagged, floorPercent).met === ruleMet) return null;
  const missing = Math.max(LEAST_PAIRS - unflagged.length, flagged);
  return `${name}: the rule is ${ruleMet ? 'met' : 'not met'} with, and ${ruleMet ? 'not met' : 'met'} without, the ${flagged === 1 ? 'pair' : `${flagged} pairs`} flagged as another mode; ${more(missing)} needed`;
}

const more = (pairs: number): string => `${pairs} more ${pairs === 1 ? 'pair is' : 'pairs are'}`;
