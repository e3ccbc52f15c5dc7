/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { verdictName } from '../../coordinator/protocol/figures.ts';
import { candidatesOf, type JobView, type RunView } from '../../coordinator/protocol/run.ts';
import type { Verdict } from '../../coordinator/protocol/verdict.ts';
import { Calibrated } from '../parts/calibrated.tsx';
import { ContractRows } from '../parts/contract-rows.tsx';
import { Corrections, Mark } from '../parts/corrections.tsx';
import { Coverage } from '../parts/coverage.tsx';
import { Effects } from '../parts/effects.tsx';
import { EvidenceBadge } from '../parts/evidence-badge.tsx';
import { Heads } from '../parts/heads.tsx';
import { Identities } from '../parts/identities.tsx';
import { Legs } from '../parts/legs.tsx';
import { LineRows } from '../parts/line-rows.tsx';
import { AboutDevice, VerdictBadge } from '../parts/verdict-badge.tsx';
import { VerdictTable } from '../parts/verdict-table.tsx';
import { clean, when } from '../show.ts';

/** `HEAD[qmm=vec4] against HEAD[qmm=scalar]`, for the tab. */
export function runTitle(view: RunView): string {
  const candidates = candidatesOf(view).map((arm) => clean(arm.label));
  const baseline = clean(view.arms[0]?.label ?? '');
  return view.calibrates ? `A/A calibration with ${baseline} · fleet ${view.run}` : `${candidates.join(', ')} against ${baseline} · fleet ${view.run}`;
}

/** One run: verdicts first, then what they rest on, device by device. */
export function RunPage({ view, markdown }: { readonly view: RunView; readonly markdown: string }): Child {
  const baseline = view.arms[0];
  const candidates = candidatesOf(view);
  const devices = [...new Set(view.jobs.map((job) => job.device))];
  return (
    <>
      <section id="top">
        <p class="eyebrow">
          run <code>{view.run}</code> · submitted <time datetime={view.submittedAt}>{when(view.submittedAt)}</time> ·{' '}
          {view.done ? 'done' : <strong>not done</strong>}
        </p>
        {view.calibrates ? (
          <h1>
            A/A calibration <span class="against">with</span> <code>{clean(baseline?.label ?? '')}</code>
          </h1>
        ) : (
          <h1>
            {candidates.map((arm, i) => (
              <>
                {i > 0 && ', '}
                <code>{clean(arm.label)}</code>
              </>
            ))}{' '}
            {candidates.length > 0 && <span class="against">against</span>} <code>{clean(baseline?.label ?? '')}</code>
          </h1>
        )}
        <Imported view={view} />
        <Calibrated view={view} />
        <VerdictTable view={view} />
        <Corrections view={view} />
      </section>
      <section id="heads-section">
        <h2 id="heads">Heads and rule</h2>
        <Heads view={view} />
      </section>
      {devices.map((device) => (
        <Device device={device} view={view} />
      ))}
      <section id="coverage-section">
        <h2 id="coverage">Coverage</h2>
        <Coverage view={view} />
      </section>
      <section id="markdown-section">
        <h2 id="markdown">Markdown for a pull request</h2>
        <p class="formats">
          The same run as <a href={`/api/runs/${view.run}/report?format=json`}>JSON</a> <Copy of="JSON" from={`/api/runs/${view.run}/report?format=json`} />, or
          as <a href={`/api/runs/${view.run}/report?format=csv`}>CSV</a> with unrounded figures{' '}
          <Copy of="CSV" from={`/api/runs/${view.run}/report?format=csv`} />.
        </p>
        <details id="markdown-text">
          <summary>
            The same as <code>fleet report {view.run} --format markdown</code>
          </summary>
          <button type="button" class="copy" data-copy="markdown-source" hidden>
            Copy
          </button>
          <pre id="markdown-source" tabindex={0} role="region" aria-labelledby="markdown">
            {markdown}
          </pre>
        </details>
        {view.done && view.imported === undefined && (
          <p>
            <a href={`/api/runs/${view.run}/receipt`}>Receipt</a>: every raw file of this run with its SHA-256, for <code>fleet verify</code>.
          </p>
        )}
      </section>
    </>
  );
}

/** Copies what the address answers; hidden until the page's module finds a clipboard. */
function Copy({ of, from }: { readonly of: string; readonly from: string }): Child {
  return (
    <button type="button" class="copy" data-copy-from={from} aria-label={`Copy as ${of}`} hidden>
      Copy
    </button>
  );
}

function Imported({ view }: { readonly view: RunView }): Child {
  if (view.imported === undefined) return null;
  const { kind, at, sha256 } = view.imported;
  return (
    <p class="warn">
      Imported <time datetime={at}>{when(at)}</time>, read-only, from{' '}
      {kind === 'receipt'
        ? 'a receipt of another coordinator, whose figures follow from its raw files'
        : 'bare engine records: no lock, no sealed rule, no head recorded'}
      . SHA-256 <code class="hash">{sha256}</code>
    </p>
  );
}

function Device({ device, view }: { readonly device: string; readonly view: RunView }): Child {
  const jobs = view.jobs.filter((job) => job.device === device);
  const first = jobs[0]!;
  return (
    <section id={`device-${device}-section`}>
      <h2 id={`device-${device}`}>
        {device} <EvidenceBadge evidence={first.evidence} /> <span class="aside">{clean(first.adapter)}</span>
      </h2>
      {first.evidence === 'software' && <p class="warn">A CPU Vulkan driver. Nothing here is evidence about any GPU, neither of correctness nor of speed.</p>}
      {jobs.map((job) => (
        <Job job={job} view={view} />
      ))}
    </section>
  );
}

function Job({ job, view }: { readonly job: JobView; readonly view: RunView }): Child {
  const id = `${job.device}-${job.suite}`;
  return (
    <article id={`job-${id}`}>
      <h3>
        {job.suite}
        {job.verdicts.length === 0 && <span class="aside"> {job.state}</span>}
      </h3>
      {job.verdicts.length === 0 && job.note !== '' && <p class="note">{clean(job.note)}</p>}
      {job.verdicts.map((verdict, i) => (
        <Findings verdict={verdict} view={view} name={verdictName(job, i)} id={`${id}-${i}`} several={job.verdicts.length > 1} />
      ))}
      <Legs job={job} view={view} id={`legs-${id}`} />
      {job.attempts.length > 1 && (
        <ul class="attempts">
          {job.attempts.map((attempt) => (
            <li>
              attempt {attempt.number}, opened {when(attempt.openedAt)}: {attempt.state}
              {attempt.note !== '' && `, ${clean(attempt.note)}`}
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

function Findings({
  verdict,
  view,
  name,
  id,
  several,
}: {
  readonly verdict: Verdict;
  readonly view: RunView;
  readonly name: string;
  readonly id: string;
  readonly several: boolean;
}): Child {
  return (
    <>
      <p class="finding">
        {view.calibrates ? <AboutDevice word={verdict.verdict} /> : <VerdictBadge word={verdict.verdict} />}
        <Mark
          view={view}
          names={[
            `${name}/verdict`,
            `${name}/reason`,
            `${name}/contract`,
            ...verdict.identities.map((item) => `${name}/${item.case}/identity`),
            ...verdict.lines.map((_, at) => `${name}/line-${at + 1}`),
          ]}
        />
        <span>
          {several && (
            <>
              <code>{clean(verdict.candidate)}</code>:{' '}
            </>
          )}
          {clean(verdict.reason)}
        </span>
      </p>
      <Effects verdict={verdict} view={view} name={name} id={`effect-${id}`} />
      <Identities rows={verdict.identities} id={`identity-${id}`} />
      <LineRows rows={verdict.lines} id={`lines-${id}`} title={verdict.contract.length > 0 ? 'Contract lines' : 'Printed lines'} />
      <ContractRows rows={verdict.contract} id={`contract-${id}`} />
      <p class="note">
        computed from <code title="SHA-256 of the canonical JSON of the records used">{verdict.computedFrom}</code>
      </p>
    </>
  );
}
