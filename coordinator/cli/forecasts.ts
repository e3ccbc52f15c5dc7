import type { Command } from 'commander';
import { forecastSummary, type ForecastSummary } from '../protocol/forecasts.ts';
import { clientOf, withService, type ServiceFlags } from './options.ts';
import { print, printJson, table } from './output.ts';

/** `fleet forecasts`: how often forecasts came true, against how sure their authors were. */
export function registerForecasts(program: Command): void {
  withService(program.command('forecasts').description('how forecasts came out, over all runs')).action(async (flags: ServiceFlags) => {
    const summary = await clientOf(flags).get('/api/forecasts', forecastSummary);
    if (flags.json) printJson(summary);
    else print(forecastTables(summary));
  });
}

const N = (value: number, digits: number): string => value.toFixed(digits);

/** Calibration first, then every scored forecast, then those that could not be scored. */
function forecastTables({ bands, withoutConfidence, meanBrier, scored, unscored }: ForecastSummary): string {
  if (scored.length + unscored.length === 0) return 'no forecast yet. next: fleet submit --heads main,HEAD --forecast "5% to 15% (80%)"';
  const parts: string[] = [];
  if (bands.length > 0) {
    const rows = bands.map((band) => [
      `${band.fromPercent}-${band.toPercent}%`,
      `${N(band.meanConfidencePercent, 0)}%`,
      `${band.hits} of ${band.of}`,
      `${N((100 * band.hits) / band.of, 0)}% (${N(band.lowPercent, 0)} to ${N(band.highPercent, 0)})`,
      N(band.meanBrier, 3),
    ]);
    parts.push(
      table(['stated', 'mean', 'hits', 'rate (95 %)', 'Brier'], rows),
      `mean Brier score ${N(meanBrier!, 3)} (0 is best; always saying 50% scores 0.250)`,
    );
  }
  if (withoutConfidence.of > 0) parts.push(`without a stated confidence: ${withoutConfidence.hits} of ${withoutConfidence.of} hit`);
  if (scored.length > 0)
    parts.push(
      table(
        ['run', 'device', 'candidate', 'case', 'forecast', 'sure', 'median', 'outcome'],
        scored.map((row) => [
          row.run,
          row.device,
          row.candidate,
          row.case,
          `${row.lowPercent}% to ${row.highPercent}%`,
          row.confidencePercent === null ? '-' : `${row.confidencePercent}%`,
          `${N(row.medianPercent, 2)}%${(row.corrections ?? []).map((text) => ` † ${text}`).join('')}`,
          row.hit ? 'hit' : `missed by ${N(Math.abs(row.missPercent), 2)} points`,
        ]),
      ),
    );
  if (unscored.length > 0)
    parts.push(
      table(
        ['run', 'forecast', 'not scored'],
        unscored.map((row) => [row.run, row.forecast, row.note]),
      ),
    );
  return parts.join('\n\n');
}
