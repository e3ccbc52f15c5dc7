/** How forecasts came out, over all runs. */
import { z } from 'zod';
import { runId } from './ids.ts';
import { forecastScore } from './verdict.ts';

/** A scored forecast with where it was scored. */
export const forecastRow = forecastScore.extend({
  run: runId,
  at: z.iso.datetime(),
  device: z.string(),
  suite: z.string(),
  candidate: z.string(),
  corrections: z.array(z.string()).optional().describe('what was appended to the median, or to this score'),
});
export type ForecastRow = z.infer<typeof forecastRow>;

/** Forecasts whose stated confidence lies from `fromPercent` up to, and without, `toPercent`. */
export const forecastBand = z.object({
  fromPercent: z.number(),
  toPercent: z.number(),
  meanConfidencePercent: z.number(),
  hits: z.int(),
  of: z.int(),
  /** Exact 95 % interval of the rate of hits, percent: calibrated forecasters state a confidence within it. */
  lowPercent: z.number(),
  highPercent: z.number(),
  meanBrier: z.number(),
});
export type ForecastBand = z.infer<typeof forecastBand>;

/** GET /api/forecasts. */
export const forecastSummary = z.object({
  schema: z.literal(1),
  bands: z.array(forecastBand).describe('ten percent each, the empty ones left out'),
  withoutConfidence: z.object({ hits: z.int(), of: z.int() }),
  meanBrier: z.number().nullable().describe('over all with a stated confidence; 0 is best, 0.25 is what 50 % always scores'),
  scored: z.array(forecastRow).describe('newest run first'),
  unscored: z.array(z.object({ run: runId, at: z.iso.datetime(), forecast: z.string(), note: z.string() })).describe('runs with a forecast and no score'),
});
export type ForecastSummary = z.infer<typeof forecastSummary>;
