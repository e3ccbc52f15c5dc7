/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { ForecastSummary } from '../../coordinator/protocol/forecasts.ts';
import { clean, count, fixed, gain, when } from '../show.ts';

/** Calibration over all runs: how sure people were against how often they were right, then every forecast. */
export function ForecastsPage({ summary }: { readonly summary: ForecastSummary }): Child {
  const { bands, meanBrier, withoutConfidence, scored, unscored } = summary;
  return (
    <>
      <h1>Forecasts</h1>
      {scored.length + unscored.length === 0 && (
        <p>
          No run was submitted with a forecast: <code>fleet submit --heads main,HEAD --forecast "5% to 15% (80%)"</code>
        </p>
      )}
      {bands.length > 0 && (
        <section id="calibration-section">
          <h2 id="calibration">Calibration</h2>
          <Table
            label="calibration"
            head={['stated', 'mean', 'hits', 'rate of hits %', '95 % interval', 'Brier score']}
            rows={bands.map((band) => [
              `${band.fromPercent} to ${band.toPercent} %`,
              fixed(band.meanConfidencePercent, 0),
              `${band.hits} of ${band.of}`,
              fixed((100 * band.hits) / band.of, 0),
              `${fixed(band.lowPercent, 0)} to ${fixed(band.highPercent, 0)}`,
              fixed(band.meanBrier, 3),
            ])}
          />
          <p class="note">
            Mean Brier score {fixed(meanBrier ?? 0, 3)}: 0 is best, 0.250 is what always saying 50 % scores.
            {withoutConfidence.of > 0 && ` Without a stated confidence: ${withoutConfidence.hits} of ${withoutConfidence.of} hit.`}
          </p>
        </section>
      )}
      {scored.length > 0 && (
        <section id="scored-section">
          <h2 id="scored">{count(scored.length, 'scored forecast')}</h2>
          <Table
            label="scored"
            head={['run', 'device', 'candidate', 'case', 'forecast %', 'sure %', 'median gain %', 'outcome']}
            rows={scored.map((row) => [
              <a href={`/runs/${row.run}`}>{row.run}</a>,
              row.device,
              <code>{clean(row.candidate)}</code>,
              row.case,
              `${gain(row.lowPercent)} to ${gain(row.highPercent)}`,
              row.confidencePercent === null ? '–' : fixed(row.confidencePercent, 0),
              gain(row.medianPercent) + (row.corrections ?? []).map((text) => ` † ${clean(text)}`).join(''),
              row.hit ? 'hit' : `missed by ${fixed(Math.abs(row.missPercent), 2)} points`,
            ])}
          />
        </section>
      )}
      {unscored.length > 0 && (
        <section id="unscored-section">
          <h2 id="unscored">Not scored</h2>
          <Table
            label="unscored"
            head={['run', 'submitted', 'forecast', 'why']}
            rows={unscored.map((row) => [<a href={`/runs/${row.run}`}>{row.run}</a>, when(row.at), <code>{clean(row.forecast)}</code>, clean(row.note)])}
          />
        </section>
      )}
    </>
  );
}

function Table({ label, head, rows }: { readonly label: string; readonly head: readonly string[]; readonly rows: readonly (readonly Child[])[] }): Child {
  return (
    <div class="scroll" tabindex={0} role="region" aria-labelledby={label}>
      <table class="wide">
        <thead>
          <tr>
            {head.map((text) => (
              <th scope="col">{text}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>{cells.map((cell, i) => (i === 0 ? <th scope="row">{cell}</th> : <td>{cell}</td>))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
