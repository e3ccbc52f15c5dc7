/**
 * The noise of a device, from a head that was measured against itself (A/A), and how a verdict uses it.
 *
 * The A/A floor of n pairs is the 95 % quantile of |median gain| over 10,000 series of n pairs without a change: both legs of every pair
 * are drawn from the legs that the A/A run measured, of either arm, each as likely as the other, with a fixed seed. A median gain at or
 * below it is what the device shows in one series of twenty where nothing changed. The false-verdict rate of a rule is the share of such
 * series that meet it, the floor included; beside it stands the same count over the series of n pairs that the A/A run holds one after
 * another, which drift and order effects reach and draws do not. All of it follows from the stored times alone.
 */
import type { Calibration, CalibrationMeasured, CalibrationUse } from '../protocol/calibration.ts';
import { DEFAULT_RULE, type Rule } from '../protocol/run.ts';
import { decideCase, LEAST_PAIRS } from './effect.ts';
import { drawFrom, simulateFalseVerdicts, simulatePairs } from './false-verdicts.ts';
import type { Share } from './fisher.ts';
import { randomFrom } from './random.ts';
import { pairedGains } from './statistics.ts';

/** Share of the series without a change whose |median gain| does not exceed the floor. */
const QUANTILE = 0.95;
/** Simulated series; fewer where a rule asks for an exact test or interval, which costs a hundred times more. Seeds of floor and rate. */
const SERIES = 10_000;
const TESTED_SERIES = 2_000;
const FLOOR_SEED = 1;
const RATE_SEED = 2;
/** Series of more pairs are simulated as ones of so many, whose floor is the larger: exact tests of more cost minutes. */
const MOST_PAIRS = 20;
/** A device changes with its seasons: a calibration older than this is stale. Drivers, models and arguments make it so at once. */
export const STALE_DAYS = 30;
const DAY_MS = 86_400_000;

/** The A/A floor of a series of `pairs` pairs, percent. @param legsMs of the device's A/A run, one case. @throws RangeError for none. */
export function noiseFloor(legsMs: readonly number[], pairs: number): number {
  const draw = drawFrom(randomFrom(FLOOR_SEED), legsMs);
  const medians = new Float64Array(SERIES);
  for (let series = 0; series < SERIES; series++) {
    const drawn = simulatePairs(Math.min(pairs, MOST_PAIRS), draw, draw);
    const { medianPercent } = pairedGains(
      drawn.map((pair) => pair.baselineMs),
      drawn.map((pair) => pair.candidateMs),
    );
    medians[series] = Math.abs(medianPercent);
  }
  return medians.toSorted()[Math.ceil(QUANTILE * SERIES) - 1]!;
}

type Times = Pick<CalibrationMeasured, 'baselineMs' | 'candidateMs'>;

const legsOf = ({ baselineMs, candidateMs }: Times): number[] => [...baselineMs, ...candidateMs];

/** Of the series of `pairs` pairs that an A/A run holds one after another, how many meet the rule; pairs left over are not counted. */
export function countFalseVerdicts({ baselineMs, candidateMs }: Times, pairs: number, rule: Rule, floorPercent: number): Share {
  const all = baselineMs.map((ms, i) => ({ baselineMs: ms, candidateMs: candidateMs[i]! }));
  const of = Math.floor(all.length / pairs);
  const met = Array.from({ length: of }, (_, i) => decideCase('counted', all.slice(i * pairs, (i + 1) * pairs), rule, floorPercent)).filter(
    ({ ruleMet, undecided }) => ruleMet && undecided === null,
  );
  return { hits: met.length, of };
}

/** Floor and false-verdict rates of series of `pairs` pairs under a rule. */
function noiseOf(times: Times, pairs: number, rule: Rule): { floorPercent: number; simulated: Share; counted: Share } {
  const legs = legsOf(times);
  const floorPercent = noiseFloor(legs, pairs);
  const tests = rule.clauses.some(({ subject }) => subject === 'p' || subject === 'low' || subject === 'estimate');
  // Fewer pairs than are judged must not fail a condition on their number.
  const asked = pairs > MOST_PAIRS ? { ...rule, clauses: rule.clauses.filter(({ subject }) => subject !== 'pairs') } : rule;
  const simulation = { pairs: Math.min(pairs, MOST_PAIRS), rule: asked, floorPercent, runs: tests ? TESTED_SERIES : SERIES, seed: RATE_SEED };
  return { floorPercent, simulated: simulateFalseVerdicts(legs, simulation), counted: countFalseVerdicts(times, pairs, rule, floorPercent) };
}

/** A calibration as it is stored: the floor, and the rates of the default rule, of its default number of pairs. */
export function calibrationOf(measured: CalibrationMeasured): Calibration {
  const { floorPercent, simulated, counted } = noiseOf(measured, LEAST_PAIRS, DEFAULT_RULE);
  const rates = { pairs: LEAST_PAIRS, rule: DEFAULT_RULE.text, simulated, counted };
  return { ...measured, floor: { pairs: LEAST_PAIRS, percent: floorPercent }, falseVerdicts: rates };
}

/** What is judged by a calibration. Null: the suite's legs do not say. */
export interface CalibratedCase {
  readonly suite: string;
  readonly case: string;
  readonly args: readonly string[];
  readonly adapter: string | null;
  readonly driver: string | null;
  readonly model: string | null;
  /** When its first leg started. */
  readonly at: string;
}

/** Why a calibration may not hold of what is judged; null: nothing speaks against it. */
export function staleReason(measured: CalibrationMeasured, judged: CalibratedCase): string | null {
  const reasons: string[] = [];
  if (measured.suite !== judged.suite || measured.case !== judged.case) reasons.push(`it measured ${measured.suite}/${measured.case}`);
  else if (measured.args.join('\n') !== judged.args.join('\n')) reasons.push('it ran the case with other arguments');
  else if (judged.model !== null && measured.model !== judged.model) reasons.push(`it ran ${modelName(measured.model)}, this is ${modelName(judged.model)}`);
  if (judged.adapter !== null && measured.adapter !== judged.adapter) reasons.push(`the adapter was ${measured.adapter}`);
  if (judged.driver !== null && measured.driver !== judged.driver) reasons.push(`the driver was ${measured.driver}, and is ${judged.driver}`);
  const days = Math.floor((Date.parse(judged.at) - Date.parse(measured.at)) / DAY_MS);
  if (days > STALE_DAYS) reasons.push(`it is ${days} days old`);
  return reasons.length === 0 ? null : reasons.join('; ');
}

/** `id 0123456789ab` of what `modelOf` gives. */
const modelName = (model: string | null): string => (model === null ? 'no model' : model.replace(/(?<= [0-9a-f]{12})[0-9a-f]+$/, ''));

/**
 * Uses a calibration for one case of a verdict. A stale one is used too, and says so: its floor can keep a rule from being met, never
 * make it so, since without a floor that condition is left out.
 */
export function useCalibration(measured: CalibrationMeasured, judged: CalibratedCase, pairs: number, rule: Rule): CalibrationUse {
  return {
    case: judged.case,
    run: measured.run,
    at: measured.at,
    measured: `${measured.suite}/${measured.case}`,
    ofPairs: measured.baselineMs.length,
    pairs: Math.min(pairs, MOST_PAIRS),
    ...noiseOf(measured, pairs, rule),
    stale: staleReason(measured, judged),
  };
}

/** The share in words, as `0.4 % of 10,000`. */
function rate({ hits, of }: Share): string {
  return of === 0 ? 'none' : `${Number(((100 * hits) / of).toPrecision(2))} % of ${of.toLocaleString('en-US')}`;
}

/** One use, one sentence without its end: floor, false-verdict rate, date, and why it is stale. */
function useText(device: string, use: CalibrationUse): string {
  const stale = use.stale === null ? '' : `; STALE: ${use.stale}. next: fleet calibrate --device ${device}`;
  const of = `run ${use.run}, ${use.at.slice(0, 10)}, ${use.ofPairs} pairs`;
  return `${use.case}: A/A floor ${Number(use.floorPercent.toFixed(2))} % of ${use.pairs} pairs; with no change this rule is met in ${rate(use.simulated)} simulated and ${use.counted.hits} of ${use.counted.of} measured series (${of})${stale}`;
}

/** Floors, rates and dates as they stand beside a verdict. */
export function usesText(device: string, uses: readonly CalibrationUse[]): string {
  return uses.length === 0 ? `no A/A calibration. next: fleet calibrate --device ${device}` : uses.map((use) => useText(device, use)).join('. ');
}
