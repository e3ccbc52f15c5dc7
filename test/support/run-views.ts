/** Runs as the coordinator would show them: jobs judged by the real `judge` from engine records, never canned verdicts. */
import type { EngineRecord } from '../../engine/protocol.ts';
import type { PlannedLeg, JobView, RunSummary, RunView } from '../../coordinator/protocol/run.ts';
import { DEFAULT_RULE, runView } from '../../coordinator/protocol/run.ts';
import { calibrationOf } from '../../coordinator/core/calibration.ts';
import { seal, sha256Hex } from '../../coordinator/core/canonical.ts';
import { contractJob, decodeJob, linesJob, measuredNoise, noiseOf, SWIFTSHADER, type JobShape } from '../../coordinator/core/testing/jobs.ts';
import { control, decode, kernel } from '../../coordinator/core/testing/records.ts';
import type { JudgeInput } from '../../coordinator/core/judge-input.ts';
import { ofDevice } from '../../coordinator/core/judge-job.ts';
import { judge, notRunVerdict } from '../../coordinator/core/verdict.ts';
import { withholdGains } from '../../coordinator/core/withhold.ts';

const AT = '2026-11-29T12:03:41Z';

/** A judged job's view, with blobs named by the hash of what the legs stored. */
export function judgedJob(run: string, input: JudgeInput, adapterName: string): JobView {
  return {
    job: `${run}.${input.device}.${input.suite}`,
    device: input.device,
    suite: input.suite,
    kind: input.kind,
    state: 'judged',
    evidence: input.evidence,
    adapter: adapterName,
    note: '',
    attempts: [{ number: 1, state: 'accepted', agent: 'agent-0001', openedAt: AT, note: '' }],
    acceptedAttempt: 1,
    legs: input.legs.map((leg) => ({
      index: leg.index,
      arm: leg.arm,
      case: leg.case,
      pair: leg.pair,
      measure: leg.measure,
      log: leg.log === null ? null : sha256Hex(leg.log),
      records: leg.records === null ? null : sha256Hex(leg.records),
    })),
    verdicts: [judge(input)],
  };
}

/** A job that waits: planned, nothing posted. */
export function waitingJob(run: string, input: JudgeInput, adapterName: string, state: JobView['state'], note: string): JobView {
  const job = judgedJob(run, input, adapterName);
  return { ...job, state, note, acceptedAttempt: null, verdicts: [], legs: job.legs.map((leg) => ({ ...leg, measure: null, log: null, records: null })) };
}

/** A job that failed before it could be judged. */
export function failedJob(run: string, input: JudgeInput, adapterName: string, reason: string): JobView {
  return { ...waitingJob(run, input, adapterName, 'failed', reason), verdicts: [notRunVerdict(input, reason)] };
}

/** The whole run around some jobs; every gain that a failed contract withholds is withheld. Held to the wire's schema. */
export function runOf(run: string, jobs: readonly JobView[], changes: Partial<RunView> = {}): RunView {
  const arm = (label: string, subject: string, letter: string): RunView['arms'][number] => ({
    label,
    head: letter.repeat(40),
    tree: 'e3'.repeat(20),
    settings: {},
    subject,
  });
  const sealed = seal({ arms: ['HEAD[qmm=scalar]', 'HEAD[qmm=vec4]'], pairs: 3, rule: DEFAULT_RULE, suites: [...new Set(jobs.map((job) => job.suite))] });
  const shown = withholdGains(jobs.flatMap((job) => job.verdicts));
  return runView.parse({
    schema: 1,
    run,
    url: `http://127.0.0.1:4700/runs/${run}`,
    submittedAt: AT,
    arms: [arm('HEAD[qmm=scalar]', 'qmm-q4: read sixteen bytes at a time', 'a'), arm('HEAD[qmm=vec4]', 'qmm-q4: read sixteen bytes at a time', 'a')],
    pairs: 3,
    rule: DEFAULT_RULE,
    seal: { ...sealed, at: AT },
    done: jobs.every((job) => job.state === 'judged' || job.state === 'failed'),
    jobs: jobs.map((job) => ({ ...job, verdicts: shown.filter((verdict) => verdict.device === job.device && verdict.suite === job.suite) })),
    coverage: jobs.flatMap((job) =>
      ['HEAD[qmm=scalar]', 'HEAD[qmm=vec4]'].map((label) => ({
        device: job.device,
        suite: job.suite,
        arm: label,
        status: job.state === 'judged' ? 'measured' : job.state === 'failed' ? 'not-run' : 'pending',
        note: job.state === 'judged' ? '' : job.note,
      })),
    ),
    ...changes,
  } satisfies RunView);
}

/** The summary of a run, as GET /api/runs lists it. */
export function summaryOf(view: RunView): RunSummary {
  return {
    run: view.run,
    submittedAt: view.submittedAt,
    ...(view.calibrates ? { calibrates: true } : {}),
    arms: view.arms.map((arm) => arm.label),
    jobs: view.jobs.map((job) => ({
      device: job.device,
      suite: job.suite,
      state: job.state,
      note: job.note,
      verdicts: job.verdicts.map((verdict) => verdict.verdict),
      legsDone: job.legs.filter((leg) => leg.measure !== null).length,
      legs: job.legs.length,
    })),
    done: view.done,
  };
}

export const LAVAPIPE = 'llvmpipe (LLVM 15.0.6, 256 bits)';
export const B60 = 'Intel(R) Arc(tm) Pro B60 Graphics (BMG G21)';

const KERNELS = ['qmm-q4', 'rms-norm', 'gdn-conv', 'gdn-decode', 'attention', 'rope', 'argmax'] as const;

/** Seven kernels with a control each; the candidate's qmm-q4 drops a term when `fault` is set. */
export function kernelsOf(leg: PlannedLeg, fault: boolean): EngineRecord[] {
  const broken = fault && leg.arm === 1;
  return KERNELS.flatMap((name, i) => [
    kernel(name, {
      // The candidate's attention adds in another order: other bits, nearer to its bound.
      worst: 0.31 + 0.09 * i + (name === 'attention' && leg.arm === 1 ? 0.08 : 0),
      output: name === 'attention' ? `${name} of arm ${leg.arm}` : name,
      group: i < 1 ? 'projection' : 'pointwise',
      ...(broken && name === 'qmm-q4'
        ? { status: 'fail' as const, failure: '1x64x64/normal/vec4: element 3 is off by 0.0412, 118.2 times its bound', files: { wgsl: 'dropped term' } }
        : {}),
    }),
    control(name, 'dropped-term'),
  ]);
}

/** Milliseconds of baseline and candidate legs by pair, a case each. */
export type Times = Readonly<Record<string, readonly [baseline: readonly number[], candidate: readonly number[]]>>;

/** A decode job with the given times; the candidate's logits part at step 5 when `fault` is set. */
export function decodeOf(times: Times, fault: boolean, shape: JobShape = {}): JudgeInput {
  const steps = Array.from({ length: 64 }, (_, i) => `row ${i}`);
  const wrong = steps.map((step, i) => (i < 5 ? step : `${step} off`));
  return decodeJob(
    (leg) => {
      const [baseline, candidate] = times[leg.case]!;
      const totalMs = (leg.arm === 0 ? baseline : candidate)[leg.pair! - 1]!;
      const broken = fault && leg.arm === 1;
      return [
        decode({
          prompt: leg.case,
          steps: (broken ? wrong : steps).map((step) => `${leg.case} ${step}`),
          totalMs,
          pinnedIdsMatch: !broken,
          adapter: shape.adapterName ?? SWIFTSHADER,
        }),
      ];
    },
    { cases: Object.keys(times), ...shape },
  );
}

/** Published pairs of a B60 (24 tokens, as corrected) for `unicode`, and a leg of another mode in `story`. */
export const B60_TIMES: Times = {
  unicode: [
    [13536, 13533, 13351],
    [4735, 4731, 4738],
  ],
  story: [
    [8120.4, 8101.9, 8133.2],
    [7309.8, 7298.3, 7315.1],
  ],
};
export const FLAGGED_TIMES: Times = {
  story: [
    [812.1, 809.4, 815.0],
    [731.5, 1389.2, 733.9],
  ],
  unicode: [
    [655.3, 651.8, 657.7],
    [611.2, 609.5, 612.8],
  ],
};
export const SLOW_TIMES: Times = {
  story: [
    [812.1, 809.4, 815.0],
    [806.5, 812.2, 813.1],
  ],
  unicode: [
    [655.3, 651.8, 657.7],
    [650.0, 655.1, 652.8],
  ],
};

/** A good run on two software devices and a GPU, one of them with a leg of another mode. */
export function goodRun(run = 'r3k9x0c2wqz'): RunView {
  const measured = (name: string, changes = {}) => measuredNoise(name, 0.4, { device: 'b60', evidence: 'gpu', adapter: B60, ...changes });
  const gpu = {
    device: 'b60',
    evidence: 'gpu',
    adapterName: B60,
    calibration: noiseOf(measured('story'), measured('unicode', { driver: 'BMG 25.1' })),
  } as const;
  const lavapipe = { device: 'lavapipe', adapterName: LAVAPIPE } as const;
  return runOf(run, [
    judgedJob(
      run,
      contractJob((leg) => kernelsOf(leg, false), gpu),
      B60,
    ),
    judgedJob(run, decodeOf(B60_TIMES, false, gpu), B60),
    judgedJob(
      run,
      contractJob((leg) => kernelsOf(leg, false), lavapipe),
      LAVAPIPE,
    ),
    judgedJob(run, decodeOf(SLOW_TIMES, false, lavapipe), LAVAPIPE),
    judgedJob(
      run,
      contractJob((leg) => kernelsOf(leg, false)),
      SWIFTSHADER,
    ),
    judgedJob(run, decodeOf(FLAGGED_TIMES, false), SWIFTSHADER),
  ]);
}

/** The candidate drops a term: red contract, other logits; one device still waits for its lock, one was never served. */
export function faultyRun(run = 'r7m2p4t8vxy', subject = 'qmm-q4: drop a term on purpose'): RunView {
  const b60 = { device: 'b60', evidence: 'gpu', adapterName: B60 } as const;
  const m1 = { device: 'm1', evidence: 'gpu', adapterName: 'Apple M1 (G13G B1)' } as const;
  const line = (leg: PlannedLeg): string =>
    `stage 1 of 5\nRESULT stage1 elapsed_ms=${8053 + leg.index} on "${SWIFTSHADER}": passed=${leg.arm === 0 ? 21 : 20} total=21\nkernels=7 passed=7 failed=0 controls=0 known=0\n`;
  const view = runOf(run, [
    judgedJob(
      run,
      contractJob((leg) => kernelsOf(leg, true)),
      SWIFTSHADER,
    ),
    judgedJob(run, decodeOf(FLAGGED_TIMES, true), SWIFTSHADER),
    judgedJob(
      run,
      linesJob((leg) => ({ stdout: line(leg) }), { suite: 'stages', cases: ['stage1'] }),
      SWIFTSHADER,
    ),
    waitingJob(run, decodeOf(B60_TIMES, false, b60), B60, 'waiting-lock', 'held 12 min by joshua (pid 4121, tf-qwen35-model)'),
    failedJob(run, decodeOf(B60_TIMES, false, m1), 'Apple M1 (G13G B1)', 'the agent ended while preparing: npm ci failed in aaaaaaaaaaaa (exit status 1)'),
  ]);
  return { ...view, arms: view.arms.map((arm, i) => (i === 1 ? { ...arm, head: 'c'.repeat(40), subject } : arm)) };
}

/** An A/A calibration of a software device, with what it gave. */
export function calibratingRun(run = 'r4c2d6e8fgh'): RunView {
  const measured = measuredNoise('story', 2, { run });
  const times: Times = { story: [measured.baselineMs, measured.candidateMs] };
  const job = judgedJob(run, decodeOf(times, false, { pairs: 20, candidate: 'HEAD again' }), SWIFTSHADER);
  const view = runOf(run, [{ ...job, verdicts: job.verdicts.map(ofDevice) }]);
  const arms = view.arms.map((arm, i) => ({ ...arm, label: i === 0 ? 'HEAD' : 'HEAD again' }));
  return { ...view, arms, pairs: 20, seed: 0, calibrates: true, calibrated: [calibrationOf(measured)] };
}
