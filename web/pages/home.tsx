/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { DeviceView } from '../../coordinator/protocol/agent.ts';
import type { RunSummary } from '../../coordinator/protocol/run.ts';
import { EvidenceBadge } from '../parts/evidence-badge.tsx';
import { AboutDevice, isVerdictWord, VerdictBadge } from '../parts/verdict-badge.tsx';
import { clean, when } from '../show.ts';

/** What each device is doing now, then every run, newest first. */
export function HomePage({ runs, devices }: { readonly runs: readonly RunSummary[]; readonly devices: readonly DeviceView[] }): Child {
  return (
    <>
      <h1>Runs and devices</h1>
      <section id="devices-section">
        <h2 id="devices">Devices</h2>
        {devices.length === 0 ? (
          <p>
            No agent has registered. On a GPU box: <code>fleet agent --device NAME --adapter PATTERN</code>
          </p>
        ) : (
          <Devices devices={devices} />
        )}
      </section>
      <section id="runs-section">
        <h2 id="runs">Runs</h2>
        {runs.length === 0 ? (
          <p>
            Nothing was submitted. In a repository with a <code>fleet.json</code>: <code>fleet submit --heads main,HEAD</code>
          </p>
        ) : (
          <Runs runs={runs} evidence={new Map(devices.map((device) => [device.device, device.evidence]))} />
        )}
      </section>
    </>
  );
}

function Devices({ devices }: { readonly devices: readonly DeviceView[] }): Child {
  return (
    <div class="scroll" tabindex={0} role="region" aria-labelledby="devices">
      <table class="wide">
        <thead>
          <tr>
            <th scope="col">device</th>
            <th scope="col">evidence</th>
            <th scope="col">doing</th>
            <th scope="col">adapter and driver</th>
            <th scope="col">lock</th>
            <th scope="col">host</th>
            <th scope="col">last heard</th>
          </tr>
        </thead>
        <tbody>
          {devices.map((device) => (
            <tr>
              <th scope="row">{device.device}</th>
              <td>
                <EvidenceBadge evidence={device.evidence} />
              </td>
              <td class={device.live ? '' : 'alarm'}>
                {device.live || device.activity === 'stopped' ? clean(device.activity) : 'silent'}
                {device.job !== null && (
                  <>
                    {' '}
                    <a href={`/runs/${device.job.split('.', 1)[0]}`}>{device.job}</a>
                  </>
                )}
                {device.note !== '' && <span class="why">{clean(device.note)}</span>}
              </td>
              <td>
                {clean(device.adapter)}
                <span class="why">{clean(device.driver)}</span>
              </td>
              <td>
                <code>{clean(device.lockPath)}</code>
              </td>
              <td class="whole">{clean(device.host)}</td>
              <td class="whole">
                <time datetime={device.lastSeenAt}>{when(device.lastSeenAt)}</time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Runs({ runs, evidence }: { readonly runs: readonly RunSummary[]; readonly evidence: ReadonlyMap<string, DeviceView['evidence']> }): Child {
  return (
    <div class="scroll" tabindex={0} role="region" aria-labelledby="runs">
      <table class="wide">
        <thead>
          <tr>
            <th scope="col">run</th>
            <th scope="col">submitted</th>
            <th scope="col">arms, baseline first</th>
            <th scope="col">device, suite and verdict</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr>
              <th scope="row">
                <a href={`/runs/${run.run}`}>{run.run}</a>
                {run.imported !== undefined && <span class="aside"> imported</span>}
                {run.calibrates && <span class="aside"> A/A calibration</span>}
              </th>
              <td>
                <time datetime={run.submittedAt}>{when(run.submittedAt)}</time>
              </td>
              <td>
                {run.arms.map((arm) => (
                  <span class="arm">
                    <code>{clean(arm)}</code>
                  </span>
                ))}
              </td>
              <td>
                <ul class="jobs">
                  {run.jobs.map((job) => (
                    <li>
                      <span class="job">
                        {job.device} {job.suite}
                        {evidence.get(job.device) === 'software' && (
                          <>
                            {' '}
                            <EvidenceBadge evidence="software" />
                          </>
                        )}
                      </span>
                      {job.verdicts.map((word) =>
                        run.calibrates ? <AboutDevice word={word} /> : isVerdictWord(word) ? <VerdictBadge word={word} /> : <span>{clean(word)}</span>,
                      )}
                      {job.verdicts.length === 0 && (
                        <span>
                          {job.state}, {job.legsDone} of {job.legs} legs
                          {job.note !== '' && <span class="why">{clean(job.note)}</span>}
                        </span>
                      )}
                    </li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
