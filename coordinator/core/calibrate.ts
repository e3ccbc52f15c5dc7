/** What an A/A run gives once it is judged: the times of its legs by case, with what they were measured on. */
import { parseRecords, type AdapterRecord, type DecodeRecord, type EngineRecord, type Evidence } from '../../engine/protocol.ts';
import type { Calibration } from '../protocol/calibration.ts';
import type { ManifestSuite } from '../protocol/manifest.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { LEAST_PAIRS } from './effect.ts';
import { calibrationOf } from './calibration.ts';
import type { JudgedLeg } from './judge-input.ts';
import { sealedArms, sealedNoise } from './sealed.ts';

/** An A/A run as far as its calibrations name it. */
interface CalibratingRun {
  readonly run: string;
  /** Of both arms. */
  readonly head: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Driver of each device at submission. */
  readonly drivers: Readonly<Record<string, string>>;
}

/** Head, settings and drivers of an A/A run, from its sealed text. @throws Error as `readSeal` does. */
export function calibratingRun(run: string, sealText: string): CalibratingRun {
  const { head, settings } = sealedArms(sealText)[0]!;
  return { run, head, settings, drivers: sealedNoise(sealText).drivers };
}

interface CalibratingJob {
  readonly device: string;
  readonly suite: string;
  readonly spec: Pick<ManifestSuite, 'cases'>;
  readonly evidence: Evidence;
  readonly adapter: string;
}

/** Driver and model as a leg's records name them; nulls where it wrote none. */
export function modelOf(records: readonly EngineRecord[]): { driver: string | null; model: string | null } {
  const adapter = records.find((record): record is AdapterRecord => record.kind === 'adapter');
  const decode = records.find((record): record is DecodeRecord => record.kind === 'decode');
  return { driver: adapter?.driver ?? null, model: decode === undefined ? null : `${decode.model.id} ${decode.model.sha256}` };
}

/**
 * The calibrations of a judged job of an A/A run, one a case; none where its verdict shows no times (void, or an output that is not
 * even equal to itself), and none of a case with fewer than three pairs that count.
 * @param legs of the job.
 */
export function calibrationsOf(run: CalibratingRun, job: CalibratingJob, verdict: Verdict | undefined, legs: readonly JudgedLeg[]): Calibration[] {
  const enough = (verdict?.effects ?? []).filter(({ pairs }) => pairs.length >= LEAST_PAIRS);
  return enough.map(({ case: name, metric, pairs }) => {
    const own = legs.filter((leg) => leg.case === name);
    const { driver, model } = modelOf(own[0]?.records == null ? [] : parseRecords(own[0].records).records);
    return calibrationOf({
      run: run.run,
      at: own.at(-1)!.measure!.startedAt,
      device: job.device,
      evidence: job.evidence,
      adapter: job.adapter,
      driver: driver ?? run.drivers[job.device] ?? 'unknown',
      suite: job.suite,
      case: name,
      args: [...(job.spec.cases.find((item) => item.name === name)?.args ?? [])],
      model,
      head: run.head,
      settings: { ...run.settings },
      metric,
      baselineMs: pairs.map((pair) => pair.baselineMs),
      candidateMs: pairs.map((pair) => pair.candidateMs),
    });
  });
}

/** Calibrations of one run in one order: device, suite and case by code unit. */
export function byCase(a: Calibration, b: Calibration): number {
  const [left, right] = [a, b].map((item) => `${item.device}/${item.suite}/${item.case}`) as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
}
