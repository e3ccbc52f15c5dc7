/** Calibrations as the terminal shows them. */
import type { Calibration } from '../protocol/calibration.ts';
import type { Effect } from '../protocol/verdict.ts';
import { table } from './output.ts';

/** One row a case; `stale` is left out where nobody asked for it. */
export function calibrationTable(calibrations: readonly (Calibration & { readonly stale?: string | null })[]): string {
  const listed = calibrations.some((item) => item.stale !== undefined);
  return table(
    ['device', 'evidence', 'suite', 'case', 'A/A pairs', 'A/A floor', 'false verdicts, simulated', 'measured', 'date', 'run', ...(listed ? ['holds'] : [])],
    calibrations.map(({ device, evidence, suite, case: name, baselineMs, floor, falseVerdicts, at, run, stale }) => [
      device,
      evidence,
      suite,
      name,
      String(baselineMs.length),
      `${floor.percent.toFixed(2)}% of ${floor.pairs} pairs`,
      `${((100 * falseVerdicts.simulated.hits) / falseVerdicts.simulated.of).toFixed(2)}% of ${falseVerdicts.simulated.of}`,
      `${falseVerdicts.counted.hits} of ${falseVerdicts.counted.of}`,
      at.slice(0, 10),
      run,
      ...(listed ? [stale === null || stale === undefined ? 'yes' : `STALE: ${stale}. next: fleet calibrate --device ${device}`] : []),
    ]),
  );
}

const percent = (value: number): string => `${value >= 0 ? '+' : ''}${value.toFixed(2)}%`;

/** What the A/A run itself would have called its gain, and what second place costs. */
export function aaLine({ case: name, medianPercent, interval, signFlipTwoSidedP, order }: Effect): string {
  const range = interval === null ? '' : ` (${percent(interval.low)} to ${percent(interval.high)}, ${(100 * interval.confidence).toFixed(1)}%)`;
  const p = signFlipTwoSidedP === undefined ? '' : `, two-sided p ${Number(signFlipTwoSidedP.toPrecision(3))}`;
  const second = order ? `; second place costs ${percent(order.secondSlowerPercent)} (p ${Number(order.p.toPrecision(3))})` : '';
  return `${name}: median gain of the head over itself ${percent(medianPercent)}${range}${p}${second}`;
}
