/** Takes a submission: reads the heads' manifests, plans every leg, seals it all, stores it in one transaction, then enqueues. */
import { addArms } from '../db/queries/arms.ts';
import { listDevices } from '../db/queries/devices.ts';
import { addEvent } from '../db/queries/events.ts';
import { addHead } from '../db/queries/heads.ts';
import { addJobs, listJobs } from '../db/queries/jobs.ts';
import { addPlannedLegs } from '../db/queries/planned-legs.ts';
import { addRun, findRun, findRunByKey } from '../db/queries/runs.ts';
import type { Store } from '../db/open.ts';
import { calibrationsFor } from './calibrations.ts';
import { canonicalJson, seal, sha256Hex } from './core/canonical.ts';
import { comparedCount, comparisonsOf, type Comparison } from './core/comparisons.ts';
import { itemText, parseForecast } from './core/forecast.ts';
import { logitsLimit } from './core/logits-rows.ts';
import { planLegs } from './core/plan.ts';
import { parseRule } from './core/rule.ts';
import { TextSyntaxError } from './core/scanner.ts';
import { readSeal } from './core/sealed.ts';
import type { Log } from './events.ts';
import { readManifest, readPinnedIds } from './heads/manifest.ts';
import type { Heads } from './heads/repository.ts';
import type { SealedCalibration } from './protocol/calibration.ts';
import type { Manifest } from './protocol/manifest.ts';
import { DEFAULT_RULE, type Extension, type Forecast, type PlannedLeg, type Rule, type SubmitRequest, type SubmitResponse } from './protocol/run.ts';
import type { Carrier } from './queue/reconcile.ts';
import { Refusal } from './refusal.ts';
import { jobIdOf, newRunId } from './run-ids.ts';
import { selectWork, type SelectedSuite } from './select-work.ts';

export interface SubmittedRun {
  readonly run: string;
  readonly jobs: { job: string; device: string; suite: string }[];
  readonly sealed: NonNullable<SubmitResponse['sealed']>;
}

/** What makes a run another than a plain submission. */
export interface RunKind {
  readonly added?: AddedTo;
  /** An A/A calibration: it is judged by no calibration. */
  readonly calibrates?: true;
}

/** A judged run whose order of legs this submission goes on with. */
export interface AddedTo {
  readonly extends: Extension;
  /** Legs planned so far, by suite. */
  readonly legs: ReadonlyMap<string, number>;
  /** Those of its seal, by which all pairs are judged: one chosen now would be chosen after its gains were seen. Null: none were sealed. */
  readonly calibrations: readonly SealedCalibration[] | null;
}

interface PlannedSuite extends SelectedSuite {
  readonly legs: PlannedLeg[];
  /** Ids that each case must produce; null where it pins none. */
  readonly pinned: ReadonlyMap<string, number[] | null>;
}

/**
 * Stores a run. Repeating a submission with its key returns the same run.
 * @throws Refusal for an unknown head, suite or device, a bad manifest, a rule or forecast that cannot be read, or a key that was used for another submission.
 */
export async function submitRun(
  store: Store,
  heads: Heads,
  carrier: Carrier,
  log: Log,
  request: SubmitRequest,
  { added, calibrates }: RunKind = {},
): Promise<SubmittedRun> {
  const requestSha256 = sha256Hex(canonicalJson({ ...request, extends: added?.extends, calibrates }));
  const earlier = repeated(store, request.key, requestSha256);
  if (earlier) return earlier;

  const rule = request.rule === undefined ? DEFAULT_RULE : readRule(request.rule);
  const forecast = request.forecast === undefined ? null : read('forecast', request.forecast, parseForecast);
  const stack = request.stack ?? false;
  const seed = request.seed ?? 0;
  const { mergeBase } = request;
  if (mergeBase !== undefined && mergeBase !== 0 && (mergeBase !== request.arms.length - 1 || mergeBase < 2))
    throw new Refusal('bad-request', `arm ${mergeBase} cannot be the merge base of the others`, 'name the last arm, of three or more, or arm 0');
  const comparisons = comparisonsOf(comparedCount(request.arms.length, mergeBase), stack);
  const described = await describeHeads(heads, request.arms);
  const baselineHead = request.arms[0]!.head;
  const work = selectWork(
    request,
    request.arms.map((arm) => described.get(arm.head)!.manifest),
    listDevices(store.queries),
  );
  const suites: PlannedSuite[] = [];
  for (const suite of work.suites) suites.push(await planSuite(heads, baselineHead, suite, { pairs: request.pairs, comparisons, seed }, added));
  checkRows(rule, suites);
  if (forecast !== null)
    checkForecast(
      forecast,
      suites,
      work.devices.map((device) => device.name),
      comparisons.length,
    );

  const at = new Date().toISOString();
  const sealed = seal({
    schema: 2,
    arms: request.arms.map(({ label, head, settings }) => ({ label, head, settings, tree: described.get(head)!.tree })),
    pairs: request.pairs,
    extends: added?.extends,
    stack: stack || undefined,
    mergeBase,
    seed,
    calibrates,
    rule,
    forecast,
    allowSoftware: request.allowSoftware,
    devices: work.devices.map((device) => device.name),
    drivers: Object.fromEntries(work.devices.map((device) => [device.name, device.driver])),
    calibrations: calibrates ? undefined : added ? (added.calibrations ?? undefined) : calibrationsFor(store.queries, work.devices, work.suites),
    suites: suites.map(({ name, spec, arms, notComparable, legs, pinned }) => ({
      name,
      spec,
      arms,
      notComparable,
      pinnedIds: Object.fromEntries(pinned),
      order: legs,
    })),
    notRun: work.notRun,
  });
  const run = newRunId();
  const jobs = work.devices.flatMap((device) => suites.map((suite) => ({ id: jobIdOf(run, device.name, suite.name), device, suite })));

  const raced = store.transaction((tx) => {
    const first = findRunByKey(tx, request.key);
    if (first) return true;
    for (const [sha, { tree, subject, manifest }] of described) addHead(tx, { sha, tree, subject, manifest, addedAt: at });
    addRun(tx, {
      id: run,
      key: request.key,
      requestSha256,
      submittedAt: at,
      pairs: request.pairs,
      allowSoftware: request.allowSoftware,
      rule,
      sealText: sealed.text,
      sealSha256: sealed.sha256,
      sealAt: at,
      coverageNotRun: work.notRun,
    });
    addArms(
      tx,
      request.arms.map(({ label, head, settings }, position) => ({ run, position, label, head, settings })),
    );
    addJobs(
      tx,
      jobs.map(({ id, device, suite }) => ({
        id,
        run,
        device: device.name,
        suite: suite.name,
        spec: suite.spec,
        arms: suite.arms,
        notComparable: suite.notComparable,
        state: 'queued' as const,
        note: '',
        evidence: device.evidence,
        adapter: device.adapter,
        acceptedAttempt: null,
        enqueued: 0,
        updatedAt: at,
      })),
    );
    for (const { id, suite } of jobs) {
      const args = new Map(suite.spec.cases.map((item) => [item.name, item.args]));
      addPlannedLegs(
        tx,
        suite.legs.map((leg) => ({
          job: id,
          position: leg.index,
          arm: leg.arm,
          caseName: leg.case,
          pair: leg.pair,
          args: args.get(leg.case)!,
          pinnedIds: suite.pinned.get(leg.case) ?? null,
        })),
      );
    }
    addEvent(tx, { at, name: 'run.submitted', run, job: null, fields: { jobs: jobs.length, seal: sealed.sha256 } });
    return false;
  });
  if (raced) return repeated(store, request.key, requestSha256)!;
  log.event('run.submitted', { run, jobs: jobs.length });
  for (const { id } of jobs) await carrier.enqueue(id);
  return viewSubmitted(store, run);
}

/** Tree, subject and manifest of each head. @throws Refusal for an unknown head or a bad manifest. */
export async function describeHeads(
  heads: Heads,
  arms: readonly { readonly head: string }[],
): Promise<ReadonlyMap<string, { readonly tree: string; readonly subject: string; readonly manifest: Manifest }>> {
  const described = new Map<string, { tree: string; subject: string; manifest: Manifest }>();
  for (const { head } of arms) {
    if (!described.has(head)) described.set(head, { ...(await heads.describe(head)), manifest: await readManifest(heads, head) });
  }
  return described;
}

/** @throws Refusal naming the column. */
export const readRule = (text: string): Rule => read('rule', text, parseRule);

/** The run of this key; null when the key is new. */
function repeated(store: Store, key: string, requestSha256: string): SubmittedRun | null {
  const there = findRunByKey(store.queries, key);
  if (!there) return null;
  if (there.requestSha256 !== requestSha256)
    throw new Refusal('conflict', `key ${key} was used for another submission, run ${there.id}`, 'submit with a new key');
  return viewSubmitted(store, there.id);
}

function viewSubmitted(store: Store, run: string): SubmittedRun {
  const { sealText, sealSha256: sha256, sealAt: at } = findRun(store.queries, run)!;
  const { rule, forecast } = readSeal(sealText);
  const sealed = { sha256, at, rule: rule.text, forecast: forecast?.text ?? null };
  return { run, sealed, jobs: listJobs(store.queries, run).map(({ id, device, suite }) => ({ job: id, device, suite })) };
}

async function planSuite(
  heads: Heads,
  baseline: string,
  suite: SelectedSuite,
  { pairs, comparisons, seed }: { readonly pairs: number; readonly comparisons: readonly Comparison[]; readonly seed: number },
  added: AddedTo | undefined,
): Promise<PlannedSuite> {
  const { spec, arms } = suite;
  const pinned = new Map<string, number[] | null>();
  for (const item of spec.cases) pinned.set(item.name, item.pinned === undefined ? null : await readPinnedIds(heads, baseline, item.pinned));
  const legsBefore = added?.legs.get(suite.name);
  const after = legsBefore === undefined ? {} : { after: { legs: legsBefore, pairs: added!.extends.pairs } };
  // The plan counts the arms that take part; legs name positions in the run's arms.
  const taking = comparisons
    .map(({ baseline: base, candidate }) => ({ baseline: arms.indexOf(base), candidate: arms.indexOf(candidate) }))
    .filter((item) => item.baseline >= 0 && item.candidate >= 0);
  const cases = spec.cases.map((item) => item.name);
  const legs = planLegs({ arms: arms.length, cases, timed: spec.timed, pairs, comparisons: taking, seed, ...after });
  return { ...suite, legs: legs.map((leg) => ({ ...leg, arm: arms[leg.arm]! })), pinned };
}

/** @throws Refusal naming the column. */
function read<T extends Rule | Forecast>(what: 'rule' | 'forecast', text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TextSyntaxError)) throw error;
    throw new Refusal('bad-request', `the ${what} cannot be read: ${error.message}`, 'fleet submit --help shows the grammar', error);
  }
}

/** @throws Refusal where the rule compares logits rows that a suite's legs are never told to write. */
function checkRows(rule: Rule, suites: readonly PlannedSuite[]): void {
  if (logitsLimit(rule.identity) === null) return;
  const has = (text: string): boolean => text.includes('{logits}');
  for (const { name, spec } of suites) {
    // A case whose legs write rows does not speak for the others.
    const mute = spec.kind === 'decode' && !spec.command.some(has) ? spec.cases.find((item) => !item.args.some(has)) : undefined;
    if (mute === undefined) continue;
    throw new Refusal(
      'bad-manifest',
      `identity ${rule.identity} compares logits rows, and case ${mute.name} of suite ${name} of the baseline writes none: no argument of it holds {logits}`,
      'add "--logits", "{logits}" to its command in fleet.json, or ask for identity ids',
    );
  }
}

/** A forecast that can never be scored is a slip. @throws Refusal for an item that names nothing of the run. */
function checkForecast({ items }: Forecast, suites: readonly PlannedSuite[], devices: readonly string[], candidates: number): void {
  const cases = suites.filter(({ spec }) => spec.timed).flatMap(({ spec }) => spec.cases.map((item) => item.name));
  for (const item of items) {
    const wrong =
      item.case !== null && !cases.includes(item.case)
        ? `no timed suite of this run has case ${item.case} (it has: ${[...new Set(cases)].join(', ') || 'none'})`
        : item.device !== null && !devices.includes(item.device)
          ? `device ${item.device} takes no part in this run (it has: ${devices.join(', ')})`
          : item.candidate !== null && item.candidate > candidates
            ? `there is no candidate #${item.candidate} (this run has ${candidates})`
            : cases.length === 0
              ? 'nothing in this run is timed'
              : null;
    if (wrong !== null)
      throw new Refusal('bad-request', `forecast "${itemText(item)}": ${wrong}`, 'name cases, devices and candidates of this run in --forecast');
  }
}
