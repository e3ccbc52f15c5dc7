import { expect, it } from 'vitest';
import { forecastSummary, type ForecastRow } from '../protocol/forecasts.ts';
import { summariseForecasts } from './forecast-summary.ts';

const row = (confidencePercent: number | null, hit: boolean): ForecastRow => ({
  run: 'r0123456789',
  at: '2026-11-30T08:00:00.000Z',
  device: 'b60',
  suite: 'decode',
  candidate: 'HEAD',
  case: 'unicode',
  lowPercent: 15,
  highPercent: 35,
  confidencePercent,
  medianPercent: hit ? 20 : 65,
  hit,
  missPercent: hit ? 0 : 30,
  brier: confidencePercent === null ? null : (confidencePercent / 100 - (hit ? 1 : 0)) ** 2,
});

it('sets the stated confidence against the rate of hits, a band of ten percent each', () => {
  const summary = summariseForecasts([row(80, true), row(85, false), row(80, true), row(45, false), row(null, true)]);
  expect(forecastSummary.parse({ schema: 1, unscored: [], ...summary }).bands.map((band) => [band.fromPercent, band.hits, band.of])).toEqual([
    [40, 0, 1],
    [80, 2, 3],
  ]);
  const high = summary.bands[1]!;
  expect(high.meanConfidencePercent).toBeCloseTo(245 / 3, 12);
  expect(high.meanBrier).toBeCloseTo((0.04 + 0.7225 + 0.04) / 3, 12);
  // Clopper–Pearson of 2 in 3.
  expect(high.lowPercent).toBeCloseTo(9.43, 2);
  expect(high.highPercent).toBeCloseTo(99.16, 2);
  expect(summary.meanBrier).toBeCloseTo((0.04 + 0.7225 + 0.04 + 0.2025) / 4, 12);
  expect(summary.withoutConfidence).toEqual({ hits: 1, of: 1 });
});

it('sums up nothing as nothing', () => {
  expect(summariseForecasts([])).toEqual({ bands: [], withoutConfidence: { hits: 0, of: 0 }, meanBrier: null, scored: [] });
});
