/**
 * The decision rule as people write it, and as it is sealed.
 *
 *     rule     = part { "and" part }
 *     part     = "identity" ( "exact" | "ids" | "differ" | "logits" "<=" NUMBER )
 *              | "every pair" OP PERCENT                       each pair's gain
 *              | ( "median" | "estimate" | "low" ) OP ( PERCENT | "floor" )
 *              | "p" ( "<=" | "<" ) NUMBER                      exact one-sided sign-flip test of gain > 0
 *              | "pairs" ( ">=" | ">" ) NUMBER
 *     OP       = ">=" | ">" | "<=" | "<"
 *     PERCENT  = NUMBER [ "%" ]
 *
 * `estimate` is the Hodges–Lehmann estimate, `low` the lower end of its interval, `floor` the device's A/A floor. Without an identity
 * part the identity is `exact`. Example: `median >= 3% and every pair > 0 and median > floor`.
 */
import type { Rule, RuleClause } from '../protocol/run.ts';
import { Scanner } from './scanner.ts';

const SUBJECTS = '"identity", "median", "every pair", "estimate", "low", "p" or "pairs"';

/** Reads a rule. @throws TextSyntaxError pointing at the column. */
export function parseRule(text: string): Rule {
  const scanner = new Scanner(text);
  let identity: Rule['identity'] | null = null;
  const clauses: RuleClause[] = [];
  for (;;) {
    const at = scanner.at;
    const subject = scanner.word();
    if (subject === 'identity') {
      if (identity !== null) scanner.fail('the identity is named twice', at);
      identity = readIdentity(scanner);
    } else {
      clauses.push(readClause(scanner, subject, at));
    }
    if (identity === 'differ' && clauses.length > 0) scanner.fail('with identity differ no timing is compared, so nothing may be asked of the gain', at);
    if (scanner.done) break;
    const joint = scanner.at;
    if (scanner.word() !== 'and') scanner.fail('expected "and" or the end of the rule', joint);
  }
  return ruleOf(identity ?? 'exact', clauses);
}

/** A rule of these parts, with its text as it is sealed. */
export function ruleOf(identity: Rule['identity'], clauses: readonly RuleClause[]): Rule {
  return { text: [`identity ${identity}`, ...clauses.map(clauseText)].join(' and '), identity, clauses: [...clauses] };
}

function clauseText({ subject, op, value }: RuleClause): string {
  const unit = value === 'floor' || subject === 'p' || subject === 'pairs' ? '' : '%';
  return `${subject} ${op} ${value}${unit}`;
}

function readIdentity(scanner: Scanner): Rule['identity'] {
  const at = scanner.at;
  const word = scanner.word();
  if (word === 'exact' || word === 'ids' || word === 'differ') return word;
  if (word !== 'logits') return scanner.fail('expected "exact", "ids", "differ" or "logits <= X" after "identity"', at);
  if (!scanner.take('<=') && !scanner.take('≤')) return scanner.fail('expected "<=" after "logits"');
  const bound = scanner.at;
  const value = scanner.number('"<="');
  if (!(value > 0)) return scanner.fail('the largest difference of logits must be positive', bound);
  return `logits<=${value}`;
}

function readClause(scanner: Scanner, subject: string, at: number): RuleClause {
  switch (subject) {
    case 'every': {
      const next = scanner.at;
      if (scanner.word() !== 'pair') scanner.fail('expected "pair" after "every"', next);
      const op = readOperator(scanner, '"every pair"');
      return { subject: 'every pair', op, value: scanner.percent(`"${op}"`) };
    }
    case 'median':
    case 'estimate':
    case 'low': {
      const op = readOperator(scanner, `"${subject}"`);
      return { subject, op, value: scanner.match(/floor\b/iy) === null ? scanner.percent(`"${op}" (or "floor")`) : 'floor' };
    }
    case 'p': {
      const op = readOperator(scanner, '"p"', ['<=', '<']);
      const bound = scanner.at;
      const value = scanner.number(`"${op}"`);
      if (!(value > 0 && value < 1)) scanner.fail('p lies between 0 and 1', bound);
      return { subject, op, value };
    }
    case 'pairs': {
      const op = readOperator(scanner, '"pairs"', ['>=', '>']);
      const bound = scanner.at;
      const value = scanner.number(`"${op}"`);
      if (!Number.isInteger(value) || value < 0) scanner.fail('pairs are counted in whole numbers', bound);
      return { subject, op, value };
    }
    default:
      return scanner.fail(subject === '' ? `expected ${SUBJECTS}` : `a rule cannot ask about "${subject}": expected ${SUBJECTS}`, at);
  }
}

const OPERATORS: readonly RuleClause['op'][] = ['>=', '<=', '>', '<'];
const SIGNS: Readonly<Record<string, string>> = { '≥': '>=', '≤': '<=' };

function readOperator(scanner: Scanner, after: string, allowed = OPERATORS): RuleClause['op'] {
  const at = scanner.at;
  const found = scanner.match(/>=|<=|>|<|≥|≤/y)?.[0] ?? '';
  const op = allowed.find((operator) => operator === (SIGNS[found] ?? found));
  return op ?? scanner.fail(`expected ${[...allowed].map((operator) => `"${operator}"`).join(' or ')} after ${after}`, at);
}
