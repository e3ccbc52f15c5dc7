/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { RunView } from '../../coordinator/protocol/run.ts';
import { clean, fixed, when } from '../show.ts';
import { Mark } from './corrections.tsx';
import { EvidenceBadge } from './evidence-badge.tsx';

/** That a run is an A/A calibration and no result, and what it gave. Nothing on other runs. */
export function Calibrated({ view }: { readonly view: RunView }): Child {
  if (!view.calibrates) return null;
  const rows = view.calibrated ?? [];
  return (
    <>
      <p class="warn">
        A/A calibration: both arms are one head. What follows is about the device, how far it strays and how often the rule calls that a gain. It says nothing
        about any change.
      </p>
      {rows.length === 0 && view.done && <p class="note">It gave no figures; the reasons stand with the verdicts below.</p>}
      {rows.length > 0 && (
        <div class="scroll" tabindex={0} role="region" aria-label="A/A calibration">
          <table class="wide">
            <thead>
              <tr>
                <th scope="col">device</th>
                <th scope="col">evidence</th>
                <th scope="col">suite and case</th>
                <th scope="col" class="n">
                  A/A floor
                </th>
                <th scope="col" class="n">
                  rule met, simulated
                </th>
                <th scope="col" class="n">
                  rule met, measured
                </th>
                <th scope="col">date</th>
                <th scope="col">driver</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ device, evidence, suite, case: name, floor, falseVerdicts, at, driver }) => (
                <tr>
                  <th scope="row">{device}</th>
                  <td>
                    <EvidenceBadge evidence={evidence} />
                  </td>
                  <td>
                    {suite} {name}
                  </td>
                  <td class="n">
                    {fixed(floor.percent, 2)} %<Mark view={view} names={[`${device}/${suite}/${name}/calibration/floor`]} />{' '}
                    <span class="aside">of {floor.pairs} pairs</span>
                  </td>
                  <td class="n">
                    {falseVerdicts.simulated.hits} of {falseVerdicts.simulated.of} series
                  </td>
                  <td class="n">
                    {falseVerdicts.counted.hits} of {falseVerdicts.counted.of} series
                  </td>
                  <td class="whole">
                    <time datetime={at}>{when(at)}</time>
                  </td>
                  <td>{clean(driver)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
