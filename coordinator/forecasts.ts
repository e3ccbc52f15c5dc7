/** Every run with a forecast, and how it came out. */
import { listJobs } from '../db/queries/jobs.ts';
import { listForecastRuns } from '../db/queries/runs.ts';
import type { Queries } from '../db/open.ts';
import { summariseForecasts } from './core/forecast-summary.ts';
import { readSeal } from './core/sealed.ts';
import { correctionsIn } from './correct.ts';
import { correctionsOf, verdictName } from './protocol/figures.ts';
import type { ForecastRow, ForecastSummary } from './protocol/forecasts.ts';
import { shownVerdicts } from './run-view.ts';
import { brokenSeal } from './seal-check.ts';

/** Computed from the verdicts as they are shown: no score where a gain is withheld, or a run is not what was sealed. */
export function viewForecasts(queries: Queries): ForecastSummary {
  const scored: ForecastRow[] = [];
  const unscored: ForecastSummary['unscored'] = [];
  for (const run of listForecastRuns(queries)) {
    const broken = brokenSeal(queries, run);
    const rows = listJobs(queries, run.id);
    const shown = [...shownVerdicts(queries, rows, broken).values()];
    const verdicts = shown.flat();
    const view = { corrections: correctionsIn(queries, run.id, []) };
    const found = shown.flatMap((ofJob) =>
      ofJob.flatMap(({ device, suite, candidate, forecasts }, at) =>
        (forecasts ?? []).map((score, item) => {
          const name = verdictName({ device, suite }, at);
          const numbers = correctionsOf(view, `${name}/${score.case}/medianPercent`, `${name}/forecast-${item + 1}`);
          const corrections = numbers.map((number) => view.corrections[number - 1]!.text);
          return { ...score, run: run.id, at: run.submittedAt, device, suite, candidate, ...(corrections.length === 0 ? {} : { corrections }) };
        }),
      ),
    );
    scored.push(...found);
    if (found.length > 0) continue;
    const done = rows.every((row) => row.state === 'judged' || row.state === 'failed');
    const words = [...new Set(verdicts.map((verdict) => verdict.verdict))].join(', ');
    const note = broken ?? (done ? `no gain to score it by: ${words}` : 'not judged yet');
    unscored.push({ run: run.id, at: run.submittedAt, forecast: broken === null ? readSeal(run.sealText).forecast!.text : '', note });
  }
  return { schema: 1, ...summariseForecasts(scored), unscored };
}
