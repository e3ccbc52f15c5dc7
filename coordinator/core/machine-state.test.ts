import { describe, expect, it } from 'vitest';
import type { MachineState } from '../protocol/machine.ts';
import { stateDifferences } from './machine-state.ts';
import { decodeJob, measure, withLeg } from './testing/jobs.ts';
import { decode } from './testing/records.ts';
import { judge } from './verdict.ts';

const GPU = {
  driver: '570.86',
  smClockMhz: 1980,
  memoryClockMhz: 3201,
  temperatureC: 41,
  powerW: 120,
  powerCapW: 700,
  powerCapDefaultW: 700,
  throttle: '0x0000000000000001',
};
type Changes = Omit<Partial<MachineState>, 'gpu'> & { gpu?: Partial<typeof GPU> | null };
const state = ({ gpu, ...changes }: Changes = {}): MachineState => ({
  kernel: '6.8.0',
  load: 0.4,
  memAvailableKiB: 100 * 1024 * 1024,
  swapUsedKiB: 0,
  governor: 'performance',
  gpuClients: [],
  ...changes,
  gpu: gpu === null ? null : { ...GPU, ...gpu },
});
const around = (before: Changes = {}, after: Changes = {}): { machine: { before: MachineState; after: MachineState } } => ({
  machine: { before: state(before), after: state(after) },
});
const UNKNOWN: MachineState = { kernel: null, load: null, memAvailableKiB: null, swapUsedKiB: null, governor: null, gpu: null, gpuClients: null };

describe('the legs of a pair', () => {
  it('that ran alike, or of which nothing is known, show no difference', () => {
    expect(stateDifferences(around(), around({ load: 0.9, gpu: { temperatureC: 44 } }))).toEqual([]);
    expect(stateDifferences(around(), { machine: { before: UNKNOWN, after: UNKNOWN } })).toEqual([]);
    expect(stateDifferences(around(), {})).toEqual([]);
  });

  it('show what differs, baseline first, and a cap below the default', () => {
    expect(
      stateDifferences(around(), around({ load: 3, swapUsedKiB: 2048, governor: 'powersave', gpu: { smClockMhz: 1410, temperatureC: 84, powerCapW: 230 } })),
    ).toEqual([
      'SM clock 1980 MHz against 1410 MHz',
      'temperature 41 °C against 84 °C',
      'power cap 700 W against 230 W',
      'load 0.4 against 3',
      'swap used 0 MiB against 2 MiB',
      'CPU governor performance against powersave',
      'power capped at 32.86 % of the default',
    ]);
  });
});

describe('what else is seen of a pair', () => {
  it('page faults, a dropped cache, and what throttled one leg only, before it or after', () => {
    const [quiet, slow] = [around({ pageCache: 'kept' }), around({ pageCache: 'dropped' }, { gpu: { throttle: '0x0000000000000024' } })];
    expect(stateDifferences({ ...quiet, majorFaults: 3 }, { ...slow, majorFaults: 5123 })).toEqual([
      'major page faults 3 against 5123',
      'page cache kept against dropped',
      'throttled by nothing against software power cap, software thermal slowdown',
    ]);
    expect(stateDifferences(around({ pageCache: null }), around({ pageCache: null }))).toEqual([]);
    expect(stateDifferences(around({ pageCache: null }), around({ pageCache: 'dropped' }))).toEqual(['page cache unknown (not permitted) against dropped']);
  });
  it('an idle GPU, and clocks that a person set, are no throttling; a mask that is none tells nothing', () => {
    expect(stateDifferences(around(), around({ gpu: { throttle: '0x0000000000000003' } }))).toEqual([]);
    expect(stateDifferences(around(), around({ gpu: { throttle: 'Not Active' } }, { gpu: null }))).toEqual([]);
  });
});

describe('a verdict', () => {
  const job = decodeJob((leg) => [decode({ totalMs: leg.arm === 0 ? 1000 : 900 })]);
  const withState = (index: number, before: Changes, after: Changes = {}) =>
    judge(withLeg({ ...job, legs: job.legs.map((leg) => ({ ...leg, measure: measure(around()) })) }, index, { measure: measure(around(before, after)) }));

  it('shows the differences beside the pair, and is decided by the times', () => {
    const verdict = withState(2, { gpu: { temperatureC: 60 } });
    expect(verdict.verdict).toBe('rule-met');
    expect(verdict.effects[0]!.pairs.map((pair) => pair.machine)).toEqual([undefined, ['temperature 41 °C against 60 °C'], undefined]);
  });

  it('is void where the driver, Mesa or kernel changed, with the leg', () => {
    expect(withState(3, {}, { gpu: { driver: '580.1' } })).toMatchObject({
      verdict: 'void',
      effects: [],
      reason: expect.stringMatching(/^the GPU driver changed: 570\.86 before leg 0 .*, 580\.1 after leg 3 /) as string,
    });
    expect(withState(3, { kernel: '6.9.0' }).reason).toMatch(/^the kernel changed: 6\.8\.0 before leg 0 .*, 6\.9\.0 before leg 3 /);
    expect(withState(3, { mesa: '25.0.7' }).verdict).toBe('rule-met');
    expect(withState(3, { mesa: '25.0.7' }, { mesa: '25.1.0' }).reason).toMatch(/^Mesa changed: 25\.0\.7 before leg 3 .*, 25\.1\.0 after leg 3 /);
  });

  it('leaves a pair out whose leg shared the GPU, and names it', () => {
    const slow = decodeJob((leg) => [decode({ totalMs: leg.arm === 0 ? 1000 : leg.pair === 3 ? 1100 : 900 })], { pairs: 4 });
    const shared = (...indexes: number[]) =>
      judge({
        ...slow,
        legs: slow.legs.map((leg) => ({ ...leg, measure: measure(around({}, indexes.includes(leg.index) ? { gpuClients: ['77 /usr/bin/ollama'] } : {})) })),
      });
    expect(shared()).toMatchObject({ verdict: 'rule-not-met', effects: [{ pairs: [{}, {}, { pair: 3, gainPercent: -10 }, {}] }] });
    const index = slow.legs.find(({ arm, pair }) => arm === 1 && pair === 3)!.index;
    const [reason, effect] = [`another process was on the GPU after leg ${index} (candidate`, shared(index).effects[0]!];
    expect(shared(index)).toMatchObject({ verdict: 'rule-met', reason: expect.stringContaining(`; pair 3 of story is void: ${reason}`) as string });
    expect(effect.pairs.map(({ pair }) => pair)).toEqual([1, 2, 4]);
    expect(effect).toMatchObject({
      minPercent: 10,
      maxPercent: 10,
      smallestP: 1 / 8,
      voidPairs: [{ pair: 3, reason: expect.stringContaining(reason) as string }],
    });
    const few = shared(index, 0);
    expect(few).toMatchObject({ verdict: 'undecided', effects: [{ voidPairs: [{ pair: 1 }, { pair: 3 }] }] });
    expect(few.reason).toContain('fleet pairs add RUN 1');
  });

  it('is void where no pair of a case is left, and where legs that shared the GPU are not timed', () => {
    const busy = (input: typeof job) =>
      judge({ ...input, legs: input.legs.map((leg) => ({ ...leg, measure: measure(around({ gpuClients: ['77 ollama'] })) })) });
    expect(busy(job)).toMatchObject({
      verdict: 'void',
      effects: [],
      reason: expect.stringMatching(
        /^pairs 1, 2, 3 of story are void: another process was on the GPU before leg 0 .*: 77 ollama\. next: fleet submit --again\.$/,
      ) as string,
    });
    expect(busy({ ...job, timed: false })).toMatchObject({
      verdict: 'void',
      reason: expect.stringMatching(/^another process was on the GPU before leg 0 /) as string,
    });
  });

  it('judges the other cases where one has no pair left: never good, and no failure is hidden', () => {
    const second = (totalMs: number) => {
      const busy = measure(around({ gpuClients: ['77 ollama', '78 b', '79 c', '80 d'] }));
      const own = decodeJob((leg) => [decode({ totalMs: leg.arm === 0 ? 1000 : totalMs })]);
      return judge({ ...own, legs: [...own.legs, ...own.legs.map((leg) => ({ ...leg, index: leg.index + own.legs.length, case: 'uni', measure: busy }))] });
    };
    expect(second(500)).toMatchObject({ verdict: 'undecided', effects: [{ case: 'story', ruleMet: true }] });
    expect(second(500).reason).toMatch(/; pairs 1, 2, 3 of uni are void: .*: 77 ollama, 78 b, 79 c and 1 more\.$/);
    expect(second(1100)).toMatchObject({ verdict: 'rule-not-met', effects: [{ case: 'story', ruleMet: false }] });
  });

  it('is not void where the machine cannot tell', () => {
    expect(withState(1, { gpu: null, gpuClients: null, kernel: null }).verdict).toBe('rule-met');
  });
});
