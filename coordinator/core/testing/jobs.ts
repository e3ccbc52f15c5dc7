/** Jobs of legs in the planned order, filled with what each leg did, for tests of verdicts. */
import type { Evidence } from '../../../engine/protocol.ts';
import { DEFAULT_RULE, type LegMeasure, type PlannedLeg } from '../../protocol/run.ts';
import type { CalibrationMeasured } from '../../protocol/calibration.ts';
import type { JudgedLeg, JudgedNoise, JudgeInput } from '../judge-input.ts';
import { planLegs } from '../plan.ts';
import { randomFrom } from '../random.ts';
import { adapter, ADAPTER_DRIVER, MODEL, recordsFile, summary } from './records.ts';
import type { EngineRecord } from '../../../engine/protocol.ts';

export const SWIFTSHADER = 'SwiftShader Device (LLVM 16.0.0)';

/** An A/A run of 20 pairs of a case, its legs spread evenly over ±`percent` of 1000 ms in an order that its seed shuffles. */
export function measuredNoise(name: string, percent: number, changes: Partial<CalibrationMeasured> = {}): CalibrationMeasured {
  const random = randomFrom(1);
  const times = Array.from({ length: 40 }, (_, i) => ({ ms: 1000 * (1 + (percent / 100) * ((2 * i) / 39 - 1)), key: random() })).toSorted(
    (a, b) => a.key - b.key,
  );
  return {
    run: 'r2a8d11m4kp',
    at: '2026-11-20T09:12:44.000Z',
    device: 'swiftshader',
    evidence: 'software',
    adapter: SWIFTSHADER,
    driver: ADAPTER_DRIVER,
    suite: 'decode',
    case: name,
    args: [],
    model: MODEL,
    head: 'a'.repeat(40),
    settings: {},
    metric: 'prefill + decode',
    baselineMs: times.slice(0, 20).map(({ ms }) => ms),
    candidateMs: times.slice(20).map(({ ms }) => ms),
    ...changes,
  };
}

/** What a seal says of these calibrations, on the driver that legs of tests state. */
export const noiseOf = (...measured: readonly CalibrationMeasured[]): JudgedNoise => ({
  driver: ADAPTER_DRIVER,
  cases: measured.map((item) => ({ case: item.case, args: item.args, measured: item })),
});

/** A leg that executed under the lock. */
export function measure(changes: Partial<LegMeasure> = {}): LegMeasure {
  return {
    outcome: 'executed',
    exitCode: 0,
    signal: null,
    startedAt: '2026-11-29T12:00:00Z',
    wallMs: 2100,
    vmHwmKiB: 310_000,
    lockHeldBefore: true,
    lockHeldAfter: true,
    note: '',
    ...changes,
  };
}

export type JobShape = Partial<Omit<JudgeInput, 'legs' | 'kind'>> & {
  readonly cases?: readonly string[];
  readonly adapterName?: string;
  readonly driver?: string;
};

/** What a test says about one leg. */
export type Fill<T> = (leg: PlannedLeg) => T;

function base(shape: JobShape, kind: JudgeInput['kind'], timed: boolean): Omit<JudgeInput, 'legs'> {
  const { cases: _cases, adapterName: _adapter, driver: _driver, ...given } = shape;
  return {
    device: 'swiftshader',
    suite: kind,
    kind,
    timed,
    evidence: 'software' satisfies Evidence,
    allowSoftware: true,
    baseline: 'HEAD[qmm=scalar]',
    candidate: 'HEAD[qmm=vec4]',
    candidateArm: 1,
    pairs: 3,
    rule: DEFAULT_RULE,
    calibration: null,
    ...given,
  };
}

function planned(shape: JobShape, timed: boolean, fallback: readonly string[]): PlannedLeg[] {
  return planLegs({ arms: 2, cases: [...(shape.cases ?? fallback)], timed, pairs: shape.pairs ?? 3 });
}

/** A timed decode job; `fill` gives each leg's records after the adapter's. */
export function decodeJob(fill: Fill<readonly EngineRecord[]>, shape: JobShape = {}): JudgeInput {
  const input = base(shape, 'decode', shape.timed ?? true);
  const device = adapter(shape.adapterName ?? SWIFTSHADER, input.evidence, shape.driver);
  const legs: JudgedLeg[] = planned(shape, input.timed, ['story']).map((leg) => ({
    ...leg,
    measure: measure(),
    records: recordsFile(device, fill(leg)),
    log: '',
  }));
  return { ...input, legs };
}

/** A contract job; `fill` gives each leg's kernels and controls, the SUMMARY line follows from them. */
export function contractJob(fill: Fill<readonly EngineRecord[]>, shape: JobShape = {}): JudgeInput {
  const input = base(shape, 'contract', false);
  const name = shape.adapterName ?? SWIFTSHADER;
  const device = adapter(name, input.evidence, shape.driver);
  const legs: JudgedLeg[] = planned(shape, false, ['all']).map((leg) => {
    const body = fill(leg);
    const total = summary(name, body, 8000 + 137 * leg.index);
    return { ...leg, measure: measure(), records: recordsFile(device, [...body, total], 'contract'), log: `${total.line}\n` };
  });
  return { ...input, legs };
}

/** A job of printed lines; `fill` gives each leg's stdout and, if not 0, its exit status. */
export function linesJob(fill: Fill<{ stdout: string; stderr?: string; exitCode?: number }>, shape: JobShape = {}): JudgeInput {
  const input = base(shape, 'lines', shape.timed ?? false);
  const legs: JudgedLeg[] = planned(shape, input.timed, ['runner']).map((leg) => {
    const { stdout, stderr = '', exitCode = 0 } = fill(leg);
    const outcome = exitCode === 0 ? 'executed' : exitCode === 1 ? 'refused' : 'broken';
    return { ...leg, measure: measure({ exitCode, outcome, stdoutBytes: Buffer.byteLength(stdout) }), records: null, log: stdout + stderr };
  });
  return { ...input, legs };
}

/** The same job with one leg's stored results changed. */
export function withLeg(input: JudgeInput, index: number, changes: Partial<JudgedLeg>): JudgeInput {
  return { ...input, legs: input.legs.map((leg) => (leg.index === index ? { ...leg, ...changes } : leg)) };
}
