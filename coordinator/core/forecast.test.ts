import { describe, expect, it } from 'vitest';
import type { Effect } from '../protocol/verdict.ts';
import { parseForecast, scoreForecast } from './forecast.ts';
import { TextSyntaxError } from './scanner.ts';

describe('parseForecast', () => {
  it.each([
    ['15% to 35%', '15% to 35%'],
    ['unicode: 15 to 35 (45%) ; document-256:5% to 15%;', 'unicode: 15% to 35% (45%); document-256: 5% to 15%'],
    ['unicode@b60#2: -1.5% to .5%', 'unicode@b60#2: -1.5% to 0.5%'],
    ['@b60: 60 to 70; #1: 1 to 2; 24-tokens: 3 to 4', '@b60: 60% to 70%; #1: 1% to 2%; 24-tokens: 3% to 4%'],
  ])('%j is sealed as %j, which reads the same again', (text, sealed) => {
    const forecast = parseForecast(text);
    expect(forecast.text).toBe(sealed);
    expect(parseForecast(forecast.text)).toEqual(forecast);
  });

  it.each([
    ['', 1, 'expected a number'],
    ['about 5%', 1, 'expected a range such as 5% to 15%'],
    ['5% - 15%', 4, 'expected "to"'],
    ['5% to 3%', 7, 'ends below its beginning'],
    ['5% to 15% (100%)', 12, 'between 0 % and 100 %'],
    ['5% to 15% (80%', 15, 'expected ")"'],
    ['5% to 15%, 3% to 4%', 10, 'expected ";"'],
    ['unicode: fast', 10, 'expected a number'],
  ])('%j is refused at column %i', (text, column, problem) => {
    let error: unknown;
    try {
      parseForecast(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(TextSyntaxError);
    expect(error).toMatchObject({ column });
    expect((error as TextSyntaxError).message).toContain(problem);
  });
});

describe('scoreForecast', () => {
  const effect = (name: string, medianPercent: number): Effect => ({ case: name, medianPercent }) as Effect;
  const score = (text: string, device = 'b60', candidate = 1) =>
    scoreForecast(parseForecast(text), device, candidate, [effect('unicode', 68.2), effect('document', 30.5)]);

  it('scores the published miss: 15 % to 35 % for 24 tokens, and 68.2 % came', () => {
    const [unicode] = score('unicode: 15% to 35% (80%)');
    expect(unicode).toMatchObject({ case: 'unicode', hit: false, medianPercent: 68.2, confidencePercent: 80 });
    expect(unicode!.missPercent).toBeCloseTo(33.2, 12);
    expect(unicode!.brier).toBeCloseTo(0.64, 12);
  });

  it('counts the ends of a range as hit, and a miss below as negative', () => {
    expect(score('document: 30.5% to 40% (80%)')[0]).toMatchObject({ hit: true, missPercent: 0 });
    expect(score('document: 30.5% to 40% (80%)')[0]!.brier).toBeCloseTo(0.04, 12);
    expect(score('document: 40% to 50%')[0]).toMatchObject({ hit: false, brier: null, missPercent: -9.5 });
  });

  it('scores what an item names and nothing else', () => {
    expect(score('60% to 70%').map((item) => item.case)).toEqual(['unicode', 'document']);
    expect(score('unicode@m1: 1% to 2%')).toEqual([]);
    expect(score('#2: 1% to 2%')).toEqual([]);
    expect(score('#2: 1% to 2%', 'b60', 2)).toHaveLength(2);
    expect(scoreForecast(null, 'b60', 1, [effect('unicode', 1)])).toEqual([]);
  });
});
