import { describe, expect, it } from 'vitest';
import { applyRule } from './apply-rule.ts';
import { parseRule } from './rule.ts';

const ask = (text: string, gains: readonly number[], floor: number | null = null) => applyRule(parseRule(text), gains, floor);

describe('applyRule', () => {
  it.each([
    ['median >= 3%', [1, 3, 9], true, 'median 3 % ≥ 3 %'],
    ['median > 3%', [1, 3, 9], false, 'median 3 % ≤ 3 %'],
    ['median <= 3%', [1, 3, 9], true, 'median 3 % ≤ 3 %'],
    ['median < 3%', [1, 3, 9], false, 'median 3 % ≥ 3 %'],
    ['every pair > 0', [1, 0, 9], false, '2 of 3 pairs positive'],
    ['every pair >= -1%', [1, 0, 9], true, '3 of 3 pairs ≥ -1 %'],
    ['estimate >= 2.75', [1, 2, 6], true, 'estimate 2.75 % ≥ 2.75 %'],
    ['low > 2', [3, 1, 2, 6, 5, 4], false, 'low 1 % ≤ 2 %'],
    ['p <= 0.125', [1, 2, 3], true, 'p 0.125 ≤ 0.125'],
    ['p < 0.2', [1, -2, 3], false, 'p 0.375 ≥ 0.2'],
    ['pairs >= 3', [1, 2, 3], true, '3 pairs ≥ 3'],
    ['identity exact', [-5], true, 'the rule asks nothing of the gain'],
  ])('%s of %j: %s', (text, gains, met, note) => expect(ask(text, gains)).toEqual({ met, note, morePairs: null }));

  it('holds the floor only against a device that has one', () => {
    expect(ask('median > floor', [5, 5, 5], 5)).toMatchObject({ met: false, note: 'not above the A/A floor 5 %' });
    expect(ask('low >= floor', [6, 6, 6, 6, 6, 6], 5)).toMatchObject({ met: true, note: 'low at least the A/A floor 5 %' });
    expect(ask('median > floor', [50, 50, 50])).toMatchObject({ met: false, note: 'there is no A/A floor to ask for' });
    expect(ask('median > floor and median > 1', [5, 5, 5])).toMatchObject({ met: true, note: 'median 5 % > 1 %' });
  });

  it.each([
    ['p <= 0.05', [1, 2, 3], 2],
    ['p < 0.125', [1, 2, 3], 1],
    ['low > 0', [1, 2, 3], 3],
    ['pairs >= 8', [1, 2, 3], 5],
    ['pairs > 8 and p <= 0.05', [1, 2, 3], 6],
  ])('%s of %j cannot be answered: %i more pairs', (text, gains, morePairs) => {
    expect(ask(text, gains)).toMatchObject({ met: true, morePairs });
    expect(ask(`${text} and median > 50%`, gains)).toMatchObject({ met: false });
  });
});
