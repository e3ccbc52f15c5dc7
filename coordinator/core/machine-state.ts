/** Machine state around legs: what makes them, or a pair of them, no evidence, and how the legs of a pair differ. */
import { throttleReasons, type MachineState } from '../protocol/machine.ts';
import type { LegMeasure } from '../protocol/run.ts';

/** Processes that a reason names; the leg's machine state has all. */
const MOST_CLIENTS = 3;

type Measured = Pick<LegMeasure, 'machine' | 'majorFaults'>;
type Described = Measured & { readonly name: string };

/** Another process on the GPU just before or after one of the legs; null when there was none, or the machine cannot tell. @param legs in run order. */
export function otherClient(legs: readonly Described[]): string | null {
  const busy = momentsOf(legs).find(({ state }) => (state.gpuClients?.length ?? 0) > 0);
  if (busy === undefined) return null;
  const clients = busy.state.gpuClients!;
  const more = clients.length > MOST_CLIENTS ? ` and ${clients.length - MOST_CLIENTS} more` : '';
  return `another process was on the GPU ${busy.name}: ${clients.slice(0, MOST_CLIENTS).join(', ')}${more}`;
}

/** A driver, Mesa or kernel that changed between legs; null when none did, or the machine cannot tell. @param legs in run order. */
export function machineChange(legs: readonly Described[]): string | null {
  const moments = momentsOf(legs);
  for (const [what, of] of [
    ['the GPU driver', (state: MachineState) => state.gpu?.driver ?? null],
    ['Mesa', (state: MachineState) => state.mesa ?? null],
    ['the kernel', (state: MachineState) => state.kernel],
  ] as const) {
    const known = moments.flatMap(({ name, state }) => (of(state) === null ? [] : [{ name, value: of(state)! }]));
    const other = known.find(({ value }) => value !== known[0]!.value);
    if (other !== undefined) return `${what} changed: ${known[0]!.value} ${known[0]!.name}, ${other.value} ${other.name}`;
  }
  return null;
}

function momentsOf(legs: readonly Described[]): { readonly name: string; readonly state: MachineState }[] {
  return legs.flatMap(({ name, machine }) =>
    machine === undefined
      ? []
      : [
          { name: `before ${name}`, state: machine.before },
          { name: `after ${name}`, state: machine.after },
        ],
  );
}

/** Apart from a leg's own doing: differences this large are worth a look. Each is a share of the larger value, but for °C and load. */
const NOTABLE = { clock: 0.05, power: 0.01, memory: 0.1, temperatureC: 5, load: 1, majorFaults: 100 } as const;

/** How the states before the two legs of a pair differ, and what throttles them: short sentences, baseline first. What is unknown is left out. */
export function stateDifferences(baseline: Measured, candidate: Measured): string[] {
  if (baseline.machine === undefined || candidate.machine === undefined) return [];
  const [a, b] = [baseline.machine.before, candidate.machine.before];
  const share = (x: number, y: number): number => Math.abs(x - y) / Math.max(Math.abs(x), Math.abs(y), Number.MIN_VALUE);
  const gap = (x: number, y: number): number => Math.abs(x - y);
  const figures: [name: string, unit: string, x: number | null | undefined, y: number | null | undefined, apart: (x: number, y: number) => boolean][] = [
    ['SM clock', 'MHz', a.gpu?.smClockMhz, b.gpu?.smClockMhz, (x, y) => share(x, y) > NOTABLE.clock],
    ['memory clock', 'MHz', a.gpu?.memoryClockMhz, b.gpu?.memoryClockMhz, (x, y) => share(x, y) > NOTABLE.clock],
    ['temperature', '°C', a.gpu?.temperatureC, b.gpu?.temperatureC, (x, y) => gap(x, y) >= NOTABLE.temperatureC],
    ['power cap', 'W', a.gpu?.powerCapW, b.gpu?.powerCapW, (x, y) => share(x, y) > NOTABLE.power],
    ['load', '', a.load, b.load, (x, y) => gap(x, y) >= NOTABLE.load],
    ['memory available', 'MiB', mib(a.memAvailableKiB), mib(b.memAvailableKiB), (x, y) => share(x, y) > NOTABLE.memory],
    ['swap used', 'MiB', mib(a.swapUsedKiB), mib(b.swapUsedKiB), (x, y) => x !== y],
    ['major page faults', '', baseline.majorFaults, candidate.majorFaults, (x, y) => gap(x, y) >= NOTABLE.majorFaults],
  ];
  const text = (value: number, unit: string): string => `${Number(value.toFixed(2))}${unit === '' ? '' : ` ${unit}`}`;
  const differing = figures.flatMap(([name, unit, x, y, apart]) =>
    x === null || x === undefined || y === null || y === undefined || !apart(x, y) ? [] : [`${name} ${text(x, unit)} against ${text(y, unit)}`],
  );
  if (a.governor !== null && b.governor !== null && a.governor !== b.governor) differing.push(`CPU governor ${a.governor} against ${b.governor}`);
  const cache = ({ pageCache }: MachineState): string => (pageCache === null ? 'unknown (not permitted)' : (pageCache ?? 'not recorded'));
  if (a.pageCache !== b.pageCache) differing.push(`page cache ${cache(a)} against ${cache(b)}`);
  const [slowA, slowB] = [throttledAround(baseline.machine), throttledAround(candidate.machine)];
  if (slowA !== null && slowB !== null && slowA !== slowB) differing.push(`throttled by ${slowA || 'nothing'} against ${slowB || 'nothing'}`);
  const capped = [a, b].find(({ gpu }) => gpu?.powerCapW != null && gpu.powerCapDefaultW != null && gpu.powerCapW < gpu.powerCapDefaultW)?.gpu;
  if (capped) differing.push(`power capped at ${text((100 * capped.powerCapW!) / capped.powerCapDefaultW!, '%')} of the default`);
  return differing;
}

const mib = (kib: number | null): number | null => (kib === null ? null : Math.round(kib / 1024));

/** What slowed the GPU down just before or just after a leg, in words; empty: nothing; null: the device does not tell. */
function throttledAround(machine: NonNullable<LegMeasure['machine']>): string | null {
  const told = [machine.before, machine.after].flatMap(({ gpu }) => throttleReasons(gpu?.throttle ?? null) ?? []);
  const tells = [machine.before, machine.after].some(({ gpu }) => throttleReasons(gpu?.throttle ?? null) !== null);
  return tells ? [...new Set(told)].join(', ') : null;
}
