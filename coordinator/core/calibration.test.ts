import { describe, expect, it } from 'vitest';
import { DEFAULT_RULE } from '../protocol/run.ts';
import { calibrationOf, countFalseVerdicts, noiseFloor, STALE_DAYS, staleReason, useCalibration, usesText } from './calibration.ts';
import { drawFrom, simulateFalseVerdicts, simulatePairs } from './false-verdicts.ts';
import { rateInterval } from './fisher.ts';
import { randomFrom } from './random.ts';
import { parseRule } from './rule.ts';
import { median, pairedGains } from './statistics.ts';
import { measuredNoise } from './testing/jobs.ts';
import { RECORDED_LEGS } from './testing/oracle.ts';

describe('the A/A floor', () => {
  it('is the 95 % quantile of |median gain|: 10 % where half of the legs take 100 and half 110', () => {
    // A pair gains 0 in half of the draws, +9.09 % (110 against 100) and −10 % in a quarter each.
    expect(noiseFloor([100, 110], 1)).toBeCloseTo(10, 12);
    expect(noiseFloor([100, 110], 3)).toBeCloseTo(10, 12);
    expect(noiseFloor([100, 100, 100], 3)).toBe(0);
  });

  it('falls with more pairs, and is not set by a rare mode that a median of three leaves out', () => {
    const legs = [...Array<number>(38).fill(1000), 1800, 1800];
    // A slow baseline gains 44.4 %, a slow candidate −80 %, in 4.75 % of the pairs each; of three pairs, two hold a slow leg in 3 of 100 series.
    expect(noiseFloor(legs, 1)).toBeCloseTo(100 * (800 / 1800), 12);
    expect(noiseFloor(legs, 3)).toBe(0);
    const floors = [1, 3, 5, 10, 20].map((pairs) => noiseFloor(RECORDED_LEGS[0]!.legs, pairs));
    expect(floors).toEqual(floors.toSorted((a, b) => b - a));
    expect(noiseFloor(RECORDED_LEGS[0]!.legs, 500)).toBe(floors[4]);
  });

  it.each(RECORDED_LEGS)('$name: 5 % of fresh series lie beyond it', ({ legs }) => {
    const draw = drawFrom(randomFrom(99), legs);
    for (const pairs of [3, 5]) {
      const floor = noiseFloor(legs, pairs);
      let hits = 0;
      for (let series = 0; series < 4000; series++) {
        const drawn = simulatePairs(pairs, draw, draw);
        const gains = drawn.map((pair) => (100 * (pair.baselineMs - pair.candidateMs)) / pair.baselineMs);
        if (Math.abs(median(gains)) > floor) hits++;
      }
      // 4.5 standard errors of 4,000 series, and the floor's own from 10,000.
      expect(hits / 4000).toBeGreaterThan(0.05 - 0.02);
      expect(hits / 4000).toBeLessThan(0.05 + 0.02);
    }
  });
});

describe('false verdicts', () => {
  it.each(RECORDED_LEGS)('$name: the stated rate, floor included, lies within the interval of 2,000 fresh series', ({ legs }) => {
    const half = legs.length >> 1;
    const stated = calibrationOf(measuredNoise('story', 1, { baselineMs: legs.slice(0, half), candidateMs: legs.slice(half, 2 * half) }));
    const { simulated, pairs } = stated.falseVerdicts;
    const fresh = simulateFalseVerdicts(legs.slice(0, 2 * half), { pairs, rule: DEFAULT_RULE, floorPercent: stated.floor.percent, runs: 2000, seed: 77 });
    const { low, high } = rateInterval(fresh);
    expect(simulated.hits / simulated.of).toBeGreaterThanOrEqual(low);
    expect(simulated.hits / simulated.of).toBeLessThanOrEqual(high);
    expect(simulated.of).toBe(10_000);
  });

  it('are counted in the series that were measured, one after another; what is left over is no series', () => {
    const gains = [9, 9, 9, 0, 9, 9, 9, 9];
    const times = { baselineMs: gains.map(() => 100), candidateMs: gains.map((gain) => 100 - gain) };
    expect(countFalseVerdicts(times, 3, DEFAULT_RULE, 0)).toEqual({ hits: 1, of: 2 });
    expect(countFalseVerdicts(times, 3, DEFAULT_RULE, 9.5)).toEqual({ hits: 0, of: 2 });
    expect(countFalseVerdicts(times, 9, DEFAULT_RULE, 0)).toEqual({ hits: 0, of: 0 });
  });

  it('are of the rule and pairs that are judged', () => {
    const measured = measuredNoise('story', 6);
    const judged = { suite: 'decode', case: 'story', args: [], adapter: null, driver: null, model: null, at: '2026-11-29T12:00:00Z' };
    const easy = useCalibration(measured, judged, 3, parseRule('every pair > 0'));
    // Three of three positive: an eighth of all series without a change, less ties.
    expect(easy.simulated.hits / easy.simulated.of).toBeCloseTo(0.125 * (1 - 1 / 40) ** 3, 1);
    const strict = useCalibration(measured, judged, 30, parseRule('median > floor and p <= 0.01 and pairs >= 25'));
    expect(strict).toMatchObject({ pairs: 20, ofPairs: 20, simulated: { of: 2000 }, counted: { hits: 0, of: 0 } });
    expect(strict.simulated.hits).toBeGreaterThan(0);
    expect(strict.floorPercent).toBeLessThan(easy.floorPercent);
  });

  it('follow from the times alone: the same figures every time', () => {
    const measured = measuredNoise('story', 2);
    expect(calibrationOf(measured)).toEqual(calibrationOf(measured));
    expect(pairedGains(measured.baselineMs, measured.candidateMs).gainPercent).toHaveLength(20);
  });
});

describe('a calibration is stale', () => {
  const measured = measuredNoise('story', 1, { args: ['--steps', '4'] });
  const now = {
    suite: 'decode',
    case: 'story',
    args: ['--steps', '4'],
    adapter: measured.adapter,
    driver: measured.driver,
    model: measured.model,
    at: new Date(Date.parse(measured.at) + STALE_DAYS * 86_400_000).toISOString(),
  };

  it('not on its last day, and not by what nobody knows', () => {
    expect(staleReason(measured, now)).toBeNull();
    expect(staleReason(measured, { ...now, adapter: null, driver: null, model: null })).toBeNull();
  });

  it.each<[object, RegExp]>([
    [{ at: new Date(Date.parse(measured.at) + (STALE_DAYS + 1) * 86_400_000).toISOString() }, /^it is 31 days old$/],
    [{ driver: 'test driver 2.0' }, /^the driver was test driver 1\.0, and is test driver 2\.0$/],
    [{ adapter: 'another GPU' }, /^the adapter was SwiftShader/],
    [{ case: 'unicode' }, /^it measured decode\/story$/],
    [{ suite: 'bench' }, /^it measured decode\/story$/],
    [{ args: ['--steps', '64'] }, /^it ran the case with other arguments$/],
    [{ model: `qwen3.5-2b ${'d'.repeat(64)}` }, /^it ran qwen3\.5-tiny-books [0-9a-f]{12}, this is qwen3\.5-2b dddddddddddd$/],
    [{ driver: 'x', case: 'unicode' }, /^it measured decode\/story; the driver was test driver 1\.0, and is x$/],
  ])('%j', (change, reason) => expect(staleReason(measured, { ...now, ...change })).toMatch(reason));
});

it('is said with floor, rates and date, a case each', () => {
  const use = {
    case: 'story',
    run: 'r2a8d11m4kp',
    at: '2026-11-20T09:12:44.000Z',
    measured: 'decode/story',
    ofPairs: 20,
    pairs: 3,
    floorPercent: 4.2345,
    simulated: { hits: 114, of: 10_000 },
    counted: { hits: 0, of: 6 },
    stale: null,
  };
  expect(usesText('b60', [use, { ...use, case: 'unicode', stale: 'it is 31 days old' }])).toBe(
    'story: A/A floor 4.23 % of 3 pairs; with no change this rule is met in 1.1 % of 10,000 simulated and 0 of 6 measured series (run r2a8d11m4kp, 2026-11-20, 20 pairs). ' +
      'unicode: A/A floor 4.23 % of 3 pairs; with no change this rule is met in 1.1 % of 10,000 simulated and 0 of 6 measured series (run r2a8d11m4kp, 2026-11-20, 20 pairs); STALE: it is 31 days old. next: fleet calibrate --device b60',
  );
  expect(usesText('b60', [])).toBe('no A/A calibration. next: fleet calibrate --device b60');
});
