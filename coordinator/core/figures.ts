/**
 * The figures of a run, each by a name: what `fleet verify` compares and `fleet correct` corrects.
 *
 *   DEVICE/SUITE#N/CASE/pair-2/gainPercent   of the Nth comparison, as forecasts count them
 *   DEVICE/SUITE#N/CASE/medianPercent        DEVICE/SUITE#N/verdict        DEVICE/SUITE#N/contract/KERNEL/status
 *   DEVICE/SUITE#N/calibrations-1/floorPercent                             DEVICE/SUITE/CASE/calibration/floor/percent
 *   DEVICE/SUITE/job/state                   DEVICE/SUITE/leg-3/log        run/rule/identity             run/correction-1/text
 *   DEVICE/SUITE/leg-3/wallMs                run/arm-0/tree                run/coverage/DEVICE/SUITE/ARM/status
 */
import { pairName, verdictName } from '../protocol/figures.ts';
import type { JobView, RunView } from '../protocol/run.ts';
import type { Verdict } from '../protocol/verdict.ts';

export interface Figure {
  readonly name: string;
  readonly value: string | number | boolean | null;
}

/** Every figure that report and page show of a run: what was asked first, then what was measured, what was concluded, and what that covers. */
export function figuresOf(view: RunView): Figure[] {
  const coverage = view.coverage.flatMap(({ device, suite, arm, ...cell }) => flat(`run/coverage/${device}/${suite}/${arm}`, cell));
  const calibrated = (view.calibrated ?? []).flatMap(({ device, suite, case: name, ...rest }) => flat(`${device}/${suite}/${name}/calibration`, rest));
  return [...figuresOfRun(view), ...view.jobs.flatMap(figuresOfJob), ...calibrated, ...coverage, ...view.jobs.flatMap(stateOfJob), ...stateOfRun(view)];
}

function figuresOfJob(job: JobView): Figure[] {
  const legs = job.legs.flatMap((leg) => flat(`${job.device}/${job.suite}/leg-${leg.index}`, { arm: leg.arm, case: leg.case, pair: leg.pair, ...leg.measure }));
  return [...legs, ...job.verdicts.flatMap((verdict, at) => figuresOfVerdict(verdictName(job, at), verdict))];
}

/** What no figure is computed from. After all figures: where one of these differs as well, it says less. */
function stateOfJob({ device, suite, kind, state, evidence, adapter, note, attempts, acceptedAttempt, legs }: JobView): Figure[] {
  const raw = legs.flatMap(({ index, log, records }) => flat(`${device}/${suite}/leg-${index}`, { log, records }));
  return [...flat(`${device}/${suite}/job`, { kind, state, evidence, adapter, note, attempts, acceptedAttempt }), ...raw];
}

function stateOfRun({ done, rule, forecast, corrections = [] }: RunView): Figure[] {
  const { text: _rule, ...terms } = rule;
  const items = flat('run/forecast/items', forecast?.items);
  return [...flat('run/rule', terms), ...items, ...flat('run/done', done), ...flat('run/correction', corrections)];
}

function figuresOfVerdict(name: string, verdict: Verdict): Figure[] {
  const { identities, lines, contract, effects, forecasts, computedFrom, ...rest } = verdict;
  return [
    ...effects.flatMap(({ pairs, voidPairs = [], case: of, ...effect }) => [
      ...pairs.flatMap(({ pair, ...row }) => flat(pairName(name, of, pair), row)),
      ...voidPairs.flatMap(({ pair, ...row }) => flat(pairName(name, of, pair), row)),
      ...flat(`${name}/${of}`, effect),
    ]),
    ...identities.flatMap(({ case: of, ...row }) => flat(`${name}/${of}/identity`, row)),
    ...contract.flatMap(({ kernel, ...row }) => flat(`${name}/contract/${kernel}`, row)),
    ...lines.flatMap((row, at) => flat(`${name}/line-${at + 1}`, row)),
    ...(forecasts ?? []).flatMap((score, at) => flat(`${name}/forecast-${at + 1}`, score)),
    ...flat(name, rest),
    // Last: it differs with every byte of the records, and says least about where.
    { name: `${name}/computedFrom`, value: computedFrom },
  ];
}

function figuresOfRun(view: RunView): Figure[] {
  return [
    ...view.arms.flatMap((arm, at) => flat(`run/arm-${at}`, arm)),
    ...flat('run', { submittedAt: view.submittedAt, pairs: view.pairs, rule: view.rule.text, forecast: view.forecast?.text ?? null }),
    ...flat('run', {
      extends: view.extends ?? null,
      stack: view.stack ?? false,
      seed: view.seed,
      mergeBase: view.mergeBase,
      calibrates: view.calibrates,
      seal: view.seal,
    }),
  ];
}

/** The scalars of a value, named by the path to them; list items count from 1. */
function flat(name: string, value: unknown): Figure[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item, at) => flat(`${name}-${at + 1}`, item));
  if (value !== null && typeof value === 'object') return Object.entries(value).flatMap(([key, member]) => flat(`${name}/${key}`, member));
  return [{ name, value: value as Figure['value'] }];
}
