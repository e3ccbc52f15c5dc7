/** Calibration of forecasts: of those that were stated with 80 %, did 80 % come true? */
import type { ForecastBand, ForecastRow, ForecastSummary } from '../protocol/forecasts.ts';
import { rateInterval } from './fisher.ts';

const BAND = 10;

/** Sums up scored forecasts. @param scored kept in their order. */
export function summariseForecasts(scored: readonly ForecastRow[]): Pick<ForecastSummary, 'bands' | 'withoutConfidence' | 'meanBrier' | 'scored'> {
  const stated = scored.filter((row) => row.confidencePercent !== null);
  const open = scored.filter((row) => row.confidencePercent === null);
  const bands = new Map<number, ForecastRow[]>();
  for (const row of stated) {
    const from = Math.floor(row.confidencePercent! / BAND) * BAND;
    bands.set(from, [...(bands.get(from) ?? []), row]);
  }
  return {
    bands: [...bands].toSorted(([a], [b]) => a - b).map(([from, rows]) => bandOf(from, rows)),
    withoutConfidence: { hits: open.filter((row) => row.hit).length, of: open.length },
    meanBrier: stated.length === 0 ? null : mean(stated.map((row) => row.brier!)),
    scored: [...scored],
  };
}

function bandOf(fromPercent: number, rows: readonly ForecastRow[]): ForecastBand {
  const hits = rows.filter((row) => row.hit).length;
  const { low, high } = rateInterval({ hits, of: rows.length });
  return {
    fromPercent,
    toPercent: fromPercent + BAND,
    meanConfidencePercent: mean(rows.map((row) => row.confidencePercent!)),
    hits,
    of: rows.length,
    lowPercent: 100 * low,
    highPercent: 100 * high,
    meanBrier: mean(rows.map((row) => row.brier!)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
