/** Decides which device × suite × arm a submission measures, and says why of every cell that it does not. */
import type { NotComparable } from '../db/schema.ts';
import type { DeviceRow } from '../db/queries/devices.ts';
import type { Manifest, ManifestSuite } from './protocol/manifest.ts';
import type { RunView, SubmitRequest } from './protocol/run.ts';
import { comparedCount } from './core/comparisons.ts';
import { MERGE_BASE_NOT_TIMED } from './core/coverage.ts';
import { lacksSuite } from './core/judge-job.ts';
import { isLive, startCommand } from './devices.ts';
import { Refusal } from './refusal.ts';

/** A suite that is run: the baseline's, without cases that some arm lacks. `arms` are positions in the run's arms. */
export interface SelectedSuite {
  readonly name: string;
  readonly spec: ManifestSuite;
  readonly arms: number[];
  readonly notComparable: NotComparable[];
  /** Cases of the baseline that were not asked for. */
  readonly leftOut: string[];
}

export interface SelectedWork {
  readonly devices: DeviceRow[];
  readonly suites: SelectedSuite[];
  readonly notRun: RunView['coverage'];
}

/**
 * @param manifests one an arm, in order; `known` all devices that were ever served.
 * @throws Refusal unknown-suite, unknown-device or no-device.
 */
export function selectWork(request: SubmitRequest, manifests: readonly Manifest[], known: readonly DeviceRow[]): SelectedWork {
  const labels = request.arms.map((arm) => arm.label);
  const baseline = manifests[0]!.suites;
  const unknown = request.suites?.find((name) => !Object.hasOwn(baseline, name));
  if (unknown !== undefined) {
    throw new Refusal(
      'unknown-suite',
      `suite ${unknown} is not in the fleet.json of the baseline ${labels[0]} (it has: ${Object.keys(baseline).join(', ')})`,
      'name one of those with --suites',
    );
  }
  const wanted = [...new Set(request.suites ?? Object.keys(baseline))];
  const { taken, skipped } = selectDevices(request, known);
  const cases = selectCases(request, baseline);
  // An added merge base says what failed before, and takes no case from the heads that are compared.
  const compared = comparedCount(manifests.length, request.mergeBase);
  const selected = wanted.map((name) => selectSuite(name, manifests.slice(0, compared), labels, cases.get(name)));
  const lacking = new Map<string, string>();
  const suites = selected.map((suite) => {
    if (compared === manifests.length || suite.arms.length < 2) return suite;
    const why = noMergeBase(suite, manifests[compared]!, labels[compared]!);
    if (why === null) return { ...suite, arms: [...suite.arms, compared] };
    lacking.set(suite.name, why);
    return suite;
  });
  const run = suites.filter((suite) => suite.arms.length > 1 && suite.spec.cases.length > 0);
  if (run.length === 0) {
    throw new Refusal(
      'unknown-suite',
      `no candidate can be compared in ${wanted.join(', ')}: ${suites.map(whyNot).join('; ')}`,
      'submit heads whose fleet.json share a suite and a case',
    );
  }

  const notRun: RunView['coverage'] = [];
  const cell = (device: string, suite: string, arm: string, note: string): void => {
    notRun.push({ device, suite, arm, status: 'not-run', note });
  };
  for (const name of Object.keys(baseline)) {
    const suite = suites.find((item) => item.name === name);
    for (const { device, note } of skipped) for (const label of labels) cell(device, name, label, note);
    for (const device of taken) {
      if (!suite) for (const label of labels) cell(device.name, name, label, 'suite not asked for');
      else if (!run.includes(suite)) for (const label of labels) cell(device.name, name, label, whyNot(suite));
      else {
        for (const [position, label] of labels.entries())
          if (!suite.arms.includes(position))
            cell(device.name, name, label, (position === compared ? lacking.get(name) : undefined) ?? lacksSuite(label, name));
        for (const left of suite.leftOut) for (const label of labels) cell(device.name, `${name}/${left}`, label, 'case not asked for');
      }
    }
  }
  return { devices: taken, suites: run, notRun };
}

/** Why a merge base takes no part in a suite; null where it does. */
function noMergeBase({ name, spec }: SelectedSuite, manifest: Manifest, label: string): string | null {
  if (spec.timed) return MERGE_BASE_NOT_TIMED;
  const there = manifest.suites[name];
  if (there === undefined) return lacksSuite(label, name);
  const missing = spec.cases.find((item) => !there.cases.some((other) => other.name === item.name));
  return missing === undefined ? null : `not comparable: ${label} has no case ${missing.name}`;
}

function whyNot(suite: SelectedSuite): string {
  return suite.arms.length < 2 ? `only the baseline has suite ${suite.name}` : `the arms share no case of suite ${suite.name}`;
}

/** The cases that were asked for, by suite; a suite that is not in the map runs all of its cases. */
function selectCases(request: SubmitRequest, baseline: Manifest['suites']): ReadonlyMap<string, ReadonlySet<string>> {
  const asked = new Map<string, Set<string>>();
  for (const path of request.cases ?? []) {
    const [suite = '', name = ''] = path.split('/');
    const has = baseline[suite]?.cases.map((item) => item.name) ?? [];
    if (!has.includes(name) || (request.suites && !request.suites.includes(suite))) {
      throw new Refusal(
        'unknown-suite',
        has.length === 0 ? `case ${path} names no suite of the baseline` : `suite ${suite} has no case ${name} in this run (it has: ${has.join(', ')})`,
        'name cases as SUITE/CASE with --cases',
      );
    }
    asked.set(suite, (asked.get(suite) ?? new Set()).add(name));
  }
  return asked;
}

function selectSuite(name: string, manifests: readonly Manifest[], labels: readonly string[], asked: ReadonlySet<string> | undefined): SelectedSuite {
  const whole = manifests[0]!.suites[name]!;
  const spec = asked ? { ...whole, cases: whole.cases.filter((item) => asked.has(item.name)) } : whole;
  const leftOut = whole.cases.filter((item) => !spec.cases.includes(item)).map((item) => item.name);
  const arms = manifests.flatMap((manifest, position) => (Object.hasOwn(manifest.suites, name) ? [position] : []));
  const casesOf = (position: number): Set<string> => new Set(manifests[position]!.suites[name]!.cases.map((item) => item.name));
  const notComparable: NotComparable[] = [];
  const dropped = new Set<string>();
  for (const { name: item } of spec.cases) {
    const lacking = arms.filter((position) => !casesOf(position).has(item));
    if (lacking.length === 0) continue;
    dropped.add(item);
    const note = `no such case in ${lacking.map((position) => labels[position]).join(', ')}`;
    for (const arm of arms.slice(1)) notComparable.push({ arm, case: item, note });
  }
  const own = casesOf(0);
  for (const arm of arms.slice(1))
    for (const item of casesOf(arm)) if (!own.has(item) && !asked) notComparable.push({ arm, case: item, note: 'the baseline has no such case' });
  return { name, spec: { ...spec, cases: spec.cases.filter((item) => !dropped.has(item.name)) }, arms, notComparable, leftOut };
}

function selectDevices(request: SubmitRequest, known: readonly DeviceRow[]): { taken: DeviceRow[]; skipped: { device: string; note: string }[] } {
  const live = known.filter((device) => isLive(device));
  const served = live.map((device) => device.name).join(', ');
  for (const name of request.devices ?? []) {
    if (live.some((device) => device.name === name)) continue;
    const before = known.find((device) => device.name === name);
    throw new Refusal(
      'unknown-device',
      `device ${name} is not served by any agent (served: ${served || 'none'})`,
      `start one on its host: ${before ? startCommand(before) : `fleet agent --device ${name} --adapter NAME`}`,
    );
  }
  if (live.length === 0)
    throw new Refusal('no-device', 'no device is served by any agent', 'start one: fleet agent --device NAME --adapter PATTERN, or try: fleet demo');
  const taken: DeviceRow[] = [];
  const skipped: { device: string; note: string }[] = [];
  for (const device of live) {
    if (request.devices && !request.devices.includes(device.name)) skipped.push({ device: device.name, note: 'device not asked for' });
    else if (device.evidence === 'software' && !request.allowSoftware)
      skipped.push({ device: device.name, note: 'a software driver is never GPU evidence; --allow-software was not given' });
    else taken.push(device);
  }
  for (const device of known)
    if (!live.includes(device))
      skipped.push({ device: device.name, note: `no agent served it (last heartbeat ${device.lastSeenAt}); start one: ${startCommand(device)}` });
  if (taken.length > 0) return { taken, skipped };
  throw new Refusal(
    'no-device',
    `only software devices ${request.devices ? 'were asked for' : 'are served'} (${(request.devices ?? live.map((device) => device.name)).join(', ')}), and a software driver is never GPU evidence`,
    'add --allow-software to run there all the same',
  );
}
