/** The sealed rule applied to one case's gains: each condition with the figure that it was held against. */
import type { Rule, RuleClause } from '../protocol/run.ts';
import { hodgesLehmann } from './hodges-lehmann.ts';
import { pairsToReach, signFlipP, smallestP } from './sign-flip.ts';
import { median } from './statistics.ts';

export interface RuleAnswer {
  /** Every condition that can be answered holds; false where there are conditions and none can be, for want of a floor. */
  readonly met: boolean;
  /** Figures against bounds, in the rule's order. */
  readonly note: string;
  /** How many more pairs the rest needs before it can be answered at all; null where everything was. */
  readonly morePairs: number | null;
}

/** One condition: does it hold, what is said, and, where these pairs cannot answer it, how many more could. */
interface Answer {
  readonly holds: boolean;
  readonly note: string;
  readonly morePairs?: number;
}

/** The fewest pairs with an interval of 95 %. */
const INTERVAL_PAIRS = 6;

/**
 * @param gains of the case's pairs, percent, at least one.
 * @param floorPercent the A/A floor; null: the device has none.
 */
export function applyRule(rule: Rule, gains: readonly number[], floorPercent: number | null): RuleAnswer {
  const answers = rule.clauses.flatMap((clause) => answer(clause, gains, floorPercent) ?? []);
  const open = answers.flatMap((item) => item.morePairs ?? []);
  return {
    met: !onlyFloor(rule, floorPercent) && answers.every((item) => item.holds || item.morePairs !== undefined),
    note: answers.map((item) => item.note).join(', ') || (rule.clauses.length === 0 ? 'the rule asks nothing of the gain' : 'there is no A/A floor to ask for'),
    morePairs: open.length === 0 ? null : Math.max(...open),
  };
}

/** Every condition is about a floor that the device does not have: nothing would be asked of the gain. */
export const onlyFloor = ({ clauses }: Rule, floorPercent: number | null): boolean =>
  floorPercent === null && clauses.length > 0 && clauses.every(({ value }) => value === 'floor');

/** `3 %`, `2.75 %`: a percentage as short as three decimals allow. */
function percent(value: number): string {
  return `${Number(value.toFixed(3))} %`;
}

/** Null: the condition asks for a floor that the device does not have; the verdict says so in its calibration. */
function answer(clause: RuleClause, gains: readonly number[], floorPercent: number | null): Answer | null {
  const { subject, op } = clause;
  const floor = clause.value === 'floor';
  const bound = clause.value === 'floor' ? floorPercent : clause.value;
  if (bound === null) return null;
  const held = (name: string, value: number): Answer => {
    const holds = compare(value, op, bound);
    if (floor) return { holds, note: `${subject === 'median' ? '' : `${name} `}${WORDS[holds ? op : NOT[op]]} the A/A floor ${percent(bound)}` };
    return { holds, note: `${name} ${percent(value)} ${SIGN[holds ? op : NOT[op]]} ${percent(bound)}` };
  };
  switch (subject) {
    case 'median':
      return held('median', median(gains));
    case 'estimate':
      return held('estimate', hodgesLehmann(gains).estimate);
    case 'low': {
      const { interval } = hodgesLehmann(gains);
      if (interval !== null) return held('low', interval.low);
      return { holds: false, note: `no interval from fewer than ${INTERVAL_PAIRS} pairs`, morePairs: INTERVAL_PAIRS - gains.length };
    }
    case 'every pair': {
      const count = gains.filter((gain) => compare(gain, op, bound)).length;
      return {
        holds: count === gains.length,
        note: `${count} of ${gains.length} pairs ${op === '>' && bound === 0 ? 'positive' : `${SIGN[op]} ${percent(bound)}`}`,
      };
    }
    case 'p': {
      const p = signFlipP(gains);
      const least = smallestP(gains.length);
      const holds = compare(p, op, bound);
      if (holds || compare(least, op, bound)) return { holds, note: `p ${short(p)} ${SIGN[holds ? op : NOT[op]]} ${bound}` };
      return { holds, note: `p ${short(p)}, and ${gains.length} pairs cannot reach ${SIGN[op]} ${bound}`, morePairs: reaching(op, bound) - gains.length };
    }
    case 'pairs': {
      const holds = compare(gains.length, op, bound);
      const least = op === '>' ? bound + 1 : bound;
      return { holds, note: `${gains.length} pairs ${SIGN[holds ? op : NOT[op]]} ${bound}`, ...(holds ? {} : { morePairs: least - gains.length }) };
    }
  }
}

const short = (p: number): string => String(Number(p.toPrecision(3)));

/** The fewest pairs whose least p is at most, or below, `bound`. */
function reaching(op: RuleClause['op'], bound: number): number {
  const pairs = pairsToReach(bound);
  return op === '<' && smallestP(pairs) === bound ? pairs + 1 : pairs;
}

type Operator = RuleClause['op'];
const NOT: Readonly<Record<Operator, Operator>> = { '>=': '<', '>': '<=', '<=': '>', '<': '>=' };
const SIGN: Readonly<Record<Operator, string>> = { '>=': '≥', '>': '>', '<=': '≤', '<': '<' };
const WORDS: Readonly<Record<Operator, string>> = { '>=': 'at least', '>': 'above', '<=': 'not above', '<': 'below' };

function compare(value: number, op: Operator, bound: number): boolean {
  switch (op) {
    case '>=':
      return value >= bound;
    case '>':
      return value > bound;
    case '<=':
      return value <= bound;
    case '<':
      return value < bound;
  }
}
