/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { verdictName } from '../../coordinator/protocol/figures.ts';
import { candidatesOf, type RunView } from '../../coordinator/protocol/run.ts';
import { clean } from '../show.ts';
import { Mark } from './corrections.tsx';
import { EvidenceBadge } from './evidence-badge.tsx';
import { AboutDevice, VerdictBadge, VerdictHelp } from './verdict-badge.tsx';

/** One row a device, suite and candidate: the answer to what was asked, or what the job is doing. */
export function VerdictTable({ view }: { readonly view: RunView }): Child {
  const several = candidatesOf(view).length > 1;
  const words = view.jobs.flatMap((job) => job.verdicts.map((verdict) => verdict.verdict));
  return (
    <>
      <div class="scroll" tabindex={0} role="region" aria-label="Verdicts">
        <table class="wide verdicts">
          <thead>
            <tr>
              <th scope="col">device</th>
              <th scope="col">evidence</th>
              <th scope="col">suite</th>
              {several && <th scope="col">candidate</th>}
              <th scope="col">verdict</th>
              <th scope="col">reason</th>
            </tr>
          </thead>
          <tbody>
            {view.jobs.flatMap((job) => {
              const start = (
                <>
                  <th scope="row">
                    <a href={`#device-${job.device}`}>{job.device}</a>
                  </th>
                  <td>
                    <EvidenceBadge evidence={job.evidence} />
                  </td>
                  <td>
                    <a href={`#job-${job.device}-${job.suite}`}>{job.suite}</a>
                  </td>
                </>
              );
              if (job.verdicts.length === 0) {
                const done = job.legs.filter((leg) => leg.measure !== null).length;
                return [
                  <tr>
                    {start}
                    {several && <td>–</td>}
                    <td class="dim">{job.state}</td>
                    <td>
                      {done} of {job.legs.length} legs{job.note !== '' && `; ${clean(job.note)}`}
                    </td>
                  </tr>,
                ];
              }
              return job.verdicts.map((verdict, at) => (
                <tr>
                  {start}
                  {several && (
                    <td>
                      <code>{clean(verdict.candidate)}</code>
                    </td>
                  )}
                  <td>
                    {view.calibrates ? <AboutDevice word={verdict.verdict} /> : <VerdictBadge word={verdict.verdict} />}
                    <Mark view={view} names={[`${verdictName(job, at)}/verdict`, `${verdictName(job, at)}/reason`]} />
                  </td>
                  <td>
                    {clean(verdict.reason)}
                    {verdict.effects.length > 0 && <span class="why">{clean(verdict.calibration)}</span>}
                  </td>
                </tr>
              ));
            })}
          </tbody>
        </table>
      </div>
      {words.length > 0 && !view.calibrates && <VerdictHelp words={words} />}
    </>
  );
}
