/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { throttleReasons, type MachineState } from '../../coordinator/protocol/machine.ts';
import type { JobView, RunView } from '../../coordinator/protocol/run.ts';
import { clean, count, fixed } from '../show.ts';
import { Mark } from './corrections.tsx';

/** The job's legs in the sealed order, with how each ended and links to its raw log and records. */
export function Legs({ job, view, id }: { readonly job: JobView; readonly view: RunView; readonly id: string }): Child {
  if (job.legs.length === 0) return null;
  const posted = job.legs.filter((leg) => leg.measure !== null).length;
  return (
    <details id={id} open={job.state === 'running'}>
      <summary>
        {posted === job.legs.length ? count(posted, 'leg') : `${posted} of ${count(job.legs.length, 'leg')}`}, in run order
        {job.attempts.length > 1 && (
          <span class="aside">
            attempt {job.acceptedAttempt ?? job.attempts.at(-1)!.number} of {job.attempts.length}
          </span>
        )}
      </summary>
      <div class="scroll" tabindex={0} role="region" aria-label={`Legs of ${job.device}, ${job.suite}`}>
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col" class="n">
                leg
              </th>
              <th scope="col">arm</th>
              <th scope="col">case</th>
              <th scope="col" class="n">
                pair
              </th>
              <th scope="col">outcome</th>
              <th scope="col" class="n">
                wall s
              </th>
              <th scope="col" class="n">
                peak MiB
              </th>
              <th scope="col" class="n">
                major faults
              </th>
              <th scope="col">lock before, after</th>
              <th scope="col">machine before</th>
              <th scope="col">raw</th>
            </tr>
          </thead>
          <tbody>
            {job.legs.map((leg) => (
              <tr>
                <th scope="row" class="n">
                  {leg.index}
                  <Mark view={view} names={[`${job.device}/${job.suite}/leg-${leg.index}`]} />
                </th>
                <td>
                  <code>{clean(view.arms[leg.arm]?.label ?? `arm ${leg.arm}`)}</code>
                </td>
                <td>{leg.case}</td>
                <td class="n">{leg.pair ?? '–'}</td>
                <Outcome measure={leg.measure} />
                <td class="n">{leg.measure === null ? '–' : fixed(leg.measure.wallMs / 1000, 2)}</td>
                <td class="n">{leg.measure?.vmHwmKiB == null ? '–' : fixed(leg.measure.vmHwmKiB / 1024, 0)}</td>
                <td class="n">{leg.measure?.majorFaults ?? '–'}</td>
                <td>{leg.measure === null ? '–' : `${held(leg.measure.lockHeldBefore)}, ${held(leg.measure.lockHeldAfter)}`}</td>
                <td>{leg.measure === null ? '–' : stateText(leg.measure.machine?.before)}</td>
                <td>
                  <Blob sha={leg.log} name="log" leg={leg.index} />
                  {leg.log !== null && leg.records !== null && ' · '}
                  <Blob sha={leg.records} name="records" leg={leg.index} />
                  {leg.log === null && leg.records === null && '–'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** What the machine said of itself before the leg; what it could not tell is unknown. */
function stateText(state: MachineState | undefined): string {
  if (state === undefined) return 'not recorded';
  const known = (value: number | null | undefined, digits: number, unit: string): string => (value == null ? 'unknown' : `${fixed(value, digits)}${unit}`);
  const { gpu } = state;
  const gib = (kib: number | null): number | null => (kib === null ? null : kib / 1024 / 1024);
  const host = [
    `load ${known(state.load, 1, '')}`,
    `${known(gib(state.memAvailableKiB), 1, ' GiB')} available`,
    `swap ${known(gib(state.swapUsedKiB), 1, ' GiB')}`,
    `governor ${clean(state.governor ?? 'unknown')}`,
    `kernel ${clean(state.kernel ?? 'unknown')}`,
    ...(state.mesa == null ? [] : [`Mesa ${clean(state.mesa)}`]),
    ...(state.pageCache === undefined || state.pageCache === 'kept' ? [] : [`page cache ${state.pageCache ?? 'unknown'}`]),
  ].join(', ');
  if (gpu === null) return `${host}; GPU unknown`;
  const reasons = throttleReasons(gpu.throttle);
  const throttled = reasons === null ? 'unknown' : reasons.length === 0 ? 'none' : reasons.join(', ');
  const clients = state.gpuClients === null ? 'unknown' : state.gpuClients.length === 0 ? 'none' : state.gpuClients.map(clean).join(', ');
  return `${host}; SM ${known(gpu.smClockMhz, 0, ' MHz')}, ${known(gpu.temperatureC, 0, ' °C')}, ${known(gpu.powerW, 0, ' W')} of cap ${known(gpu.powerCapW, 0, ' W')}, throttled by ${throttled}, other clients ${clients}, driver ${clean(gpu.driver ?? 'unknown')}`;
}

const held = (locked: boolean): string => (locked ? 'held' : 'NOT HELD');

function Outcome({ measure }: { readonly measure: JobView['legs'][number]['measure'] }): Child {
  if (measure === null) return <td class="dim">not yet</td>;
  const status = measure.signal ?? measure.exitCode;
  return (
    <td class={measure.outcome === 'executed' ? '' : 'alarm'}>
      {measure.outcome}
      {measure.outcome !== 'executed' && status !== null && ` (${status})`}
      {measure.note !== '' && <span class="why">{clean(measure.note)}</span>}
    </td>
  );
}

function Blob({ sha, name, leg }: { readonly sha: string | null; readonly name: string; readonly leg: number }): Child {
  return sha === null ? null : (
    <a href={`/api/blobs/${sha}`} aria-label={`${name} of leg ${leg}`}>
      {name}
    </a>
  );
}
