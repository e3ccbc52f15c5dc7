import { describe, expect, it } from 'vitest';
import { DEFAULT_RULE, rule as ruleShape } from '../protocol/run.ts';
import { parseRule } from './rule.ts';
import { TextSyntaxError } from './scanner.ts';

describe('parseRule', () => {
  it('reads the default rule from its own text', () => expect(parseRule(DEFAULT_RULE.text)).toEqual(DEFAULT_RULE));

  it.each([
    ['median >= 3% and every pair > 0 and median > floor', DEFAULT_RULE.text],
    ['identity ids', 'identity ids'],
    ['  MEDIAN>=3 %  AND\n p<.05 ', 'identity exact and median >= 3% and p < 0.05'],
    ['low > 0 and pairs >= 10 and identity logits <= 1e-4', 'identity logits<=0.0001 and low > 0% and pairs >= 10'],
    ['estimate ≥ 2.5 and every pair ≥ -1%', 'identity exact and estimate >= 2.5% and every pair >= -1%'],
    ['identity differ', 'identity differ'],
  ])('%j is sealed as %j, which reads the same again', (text, sealed) => {
    const rule = ruleShape.parse(parseRule(text));
    expect(rule.text).toBe(sealed);
    expect(parseRule(rule.text)).toEqual(rule);
  });

  it.each([
    ['', 1, 'expected "identity", "median"'],
    ['median', 7, 'expected ">=" or "<=" or ">" or "<" after "median"'],
    ['median >= x%', 11, 'expected a number after ">=" (or "floor")'],
    ['median >= 3% or p < 1', 14, 'expected "and" or the end'],
    ['median >= 3% and', 17, 'expected "identity", "median"'],
    ['mean >= 3%', 1, 'a rule cannot ask about "mean"'],
    ['every one > 0', 7, 'expected "pair" after "every"'],
    ['p > 0.05', 3, 'expected "<=" or "<" after "p"'],
    ['p <= 5', 6, 'p lies between 0 and 1'],
    ['pairs >= 2.5', 10, 'whole numbers'],
    ['every pair > floor', 14, 'expected a number after ">"'],
    ['identity same', 10, 'expected "exact", "ids", "differ" or "logits <= X"'],
    ['identity logits < 1', 17, 'expected "<=" after "logits"'],
    ['identity logits <= 0', 20, 'must be positive'],
    ['identity ids and identity exact', 18, 'named twice'],
    ['identity differ and median > 0', 21, 'no timing is compared'],
  ])('%j is refused at column %i', (text, column, problem) => {
    let error: unknown;
    try {
      parseRule(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(TextSyntaxError);
    expect(error).toMatchObject({ column, pointer: `${text}\n${' '.repeat(column - 1)}^` });
    expect((error as TextSyntaxError).message).toContain(problem);
  });
});
