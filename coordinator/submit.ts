/** Takes a submission: reads the heads' manifests, plans every leg, seals it all, stores it in one transaction, then enqueues. */
import { addArms } from '../db/queries/arms.ts';
import { listDevices } from '../db/queries/devices.ts';
import { addEvent } from '../db/queries/events.ts';
import { addHead } from '../db/queries/heads.ts';
import { addJobs, listJobs } from '../db/queries/jobs.ts';
import { addPlannedLegs } from '../db/queries/planned-legs.ts';
import { addRun, findRunByKey } from '../db/queries/runs.ts';
import type { Store } from '../db/open.ts';
import { canonicalJson, seal, sha256Hex } from './core/canonical.ts';
import { planLegs } from './core/plan.ts';
import type { Log } from './events.ts';
import { readManifest, readPinnedIds } from './heads/manifest.ts';
import type { Heads } from './heads/repository.ts';
import type { Manifest } from './protocol/manifest.ts';
import { DEFAULT_RULE, type PlannedLeg, type SubmitRequest } from './protocol/run.ts';
import type { Carrier } from './queue/reconcile.ts';
import { Refusal } from './refusal.ts';
import { jobIdOf, newRunId } from './run-ids.ts';
import { selectWork, type SelectedSuite } from './select-work.ts';

export interface SubmittedRun {
  readonly run: string;
  readonly jobs: { job: string; device: string; suite: string }[];
}

interface PlannedSuite extends SelectedSuite {
  readonly legs: PlannedLeg[];
  /** Ids that each case must produce; null where it pins none. */
  readonly pinned: ReadonlyMap<string, number[] | null>;
}

/**
 * Stores a run. Repeating a submission with its key returns the same run.
 * @throws Refusal for an unknown head, suite or device, a bad manifest, or a key that was used for another submission.
 */
export async function submitRun(store: Store, heads: Heads, carrier: Carrier, log: Log, request: SubmitRequest): Promise<SubmittedRun> {
  const requestSha256 = sha256Hex(canonicalJson(request));
  const earlier = repeated(store, request.key, requestSha256);
  if (earlier) return earlier;

  const described = new Map<string, { tree: string; subject: string; manifest: Manifest }>();
  for (const { head } of request.arms) {
    if (!described.has(head)) described.set(head, { ...(await heads.describe(head)), manifest: await readManifest(heads, head) });
  }
  const baselineHead = request.arms[0]!.head;
  const work = selectWork(
    request,
    request.arms.map((arm) => described.get(arm.head)!.manifest),
    listDevices(store.queries),
  );
  const suites: PlannedSuite[] = [];
  for (const suite of work.suites) suites.push(await planSuite(heads, baselineHead, suite, request.pairs));

  const at = new Date().toISOString();
  const sealed = seal({
    schema: 1,
    arms: request.arms.map(({ label, head, settings }) => ({ label, head, settings, tree: described.get(head)!.tree })),
    pairs: request.pairs,
    rule: DEFAULT_RULE,
    forecast: null,
    allowSoftware: request.allowSoftware,
    devices: work.devices.map((device) => device.name),
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
      rule: DEFAULT_RULE,
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

/** The run of this key; null when the key is new. */
function repeated(store: Store, key: string, requestSha256: string): SubmittedRun | null {
  const there = findRunByKey(store.queries, key);
  if (!there) return null;
  if (there.requestSha256 !== requestSha256)
    throw new Refusal('conflict', `key ${key} was used for another submission, run ${there.id}`, 'submit with a new key');
  return viewSubmitted(store, there.id);
}

function viewSubmitted(store: Store, run: string): SubmittedRun {
  return { run, jobs: listJobs(store.queries, run).map(({ id, device, suite }) => ({ job: id, device, suite })) };
}

async function planSuite(heads: Heads, baseline: string, suite: SelectedSuite, pairs: number): Promise<PlannedSuite> {
  const { spec, arms } = suite;
  const pinned = new Map<string, number[] | null>();
  for (const item of spec.cases) pinned.set(item.name, item.pinned === undefined ? null : await readPinnedIds(heads, baseline, item.pinned));
  // The plan counts the arms that take part; legs name positions in the run's arms.
  const legs = planLegs({ arms: arms.length, cases: spec.cases.map((item) => item.name), timed: spec.timed, pairs }).map((leg) => ({
    ...leg,
    arm: arms[leg.arm]!,
  }));
  return { ...suite, legs, pinned };
}
