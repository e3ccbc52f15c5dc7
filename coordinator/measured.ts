/** Finds what was measured before: the same trees, settings, cases and devices, whatever the commits are called. */
import { listArms } from '../db/queries/arms.ts';
import { listDevices, type DeviceRow } from '../db/queries/devices.ts';
import { listAcceptedJobsOf, listJobs, type JobRow } from '../db/queries/jobs.ts';
import { listLegResults } from '../db/queries/leg-results.ts';
import { findRun, type RunRow } from '../db/queries/runs.ts';
import { listVerdicts } from '../db/queries/verdicts.ts';
import type { Queries, Store } from '../db/open.ts';
import { parseRecords } from '../engine/protocol.ts';
import type { BlobStore } from './blobs.ts';
import { calibrationsFor } from './calibrations.ts';
import { canonicalJson } from './core/canonical.ts';
import { readSeal, sealedNoise } from './core/sealed.ts';
import { FAILING } from './core/withhold.ts';
import type { Heads } from './heads/repository.ts';
import type { MeasuredBefore, MeasuredReply } from './protocol/measured.ts';
import { DEFAULT_RULE, type SubmitRequest } from './protocol/run.ts';
import type { Verdict, VerdictWord } from './protocol/verdict.ts';
import { shownVerdicts } from './run-view.ts';
import { brokenSeal, earlierRuns } from './seal-check.ts';
import { describeHeads, readRule } from './submit.ts';
import { selectWork, type SelectedSuite } from './select-work.ts';

/** Newest first; what was measured longer ago than so many jobs of that device and suite is measured again. */
const MOST_JOBS = 500;

/**
 * What earlier runs measured of a submission. Nothing is stored. A run counts for a device and suite when its attempt was accepted, its
 * verdicts are neither `void` nor `not-run`, its seal is whole, and adapter and driver are those that the device has now.
 * @throws Refusal as `submitRun` does, for what cannot be submitted.
 */
export async function measuredOf(store: Store, heads: Heads, blobs: BlobStore, origin: string, request: SubmitRequest): Promise<MeasuredReply> {
  const { queries } = store;
  const described = await describeHeads(heads, request.arms);
  const work = selectWork(
    request,
    request.arms.map((arm) => described.get(arm.head)!.manifest),
    listDevices(queries),
  );
  const asked = { arms: request.arms.map(({ head, settings }) => ({ tree: described.get(head)!.tree, settings })), request };
  const reply: MeasuredReply = { measured: [], missing: [] };
  for (const device of work.devices) {
    for (const suite of work.suites) {
      const found = await newestOf(queries, blobs, origin, device, suite, asked);
      if (found === null) reply.missing.push({ device: device.name, suite: suite.name });
      else reply.measured.push(found);
    }
  }
  withholdAcross(reply, new Set(work.suites.filter(({ spec }) => spec.kind === 'contract').map(({ name }) => name)));
  return reply;
}

/** Words that are about gains. */
const OF_GAINS: ReadonlySet<VerdictWord> = new Set(['rule-met', 'rule-not-met', 'undecided']);

/** Verdicts of one run withhold gains from each other; those that are put together from several runs have to be asked. */
function withholdAcross({ measured }: MeasuredReply, contracts: ReadonlySet<string>): void {
  for (const cell of measured) {
    const failed = measured.find(
      (other) =>
        contracts.has(other.suite) &&
        other.device === cell.device &&
        other.run !== cell.run &&
        other.verdicts.some(({ verdict }, at) => FAILING.has(verdict) && OF_GAINS.has(cell.verdicts[at]!.verdict)),
    );
    if (failed !== undefined) cell.unanswered ??= `its gain would be withheld: suite ${failed.suite} fails on this device in run ${failed.run}`;
  }
}

interface Asked {
  readonly arms: readonly { readonly tree: string; readonly settings: Readonly<Record<string, string>> }[];
  readonly request: SubmitRequest;
}

/** The newest that answers the submission, else the newest. */
async function newestOf(
  queries: Queries,
  blobs: BlobStore,
  origin: string,
  device: DeviceRow,
  suite: SelectedSuite,
  asked: Asked,
): Promise<MeasuredBefore | null> {
  let newest: MeasuredBefore | null = null;
  for (const job of listAcceptedJobsOf(queries, device.name, suite.name, MOST_JOBS)) {
    if (!isSameWork(queries, job, suite, asked)) continue;
    const verdicts = standingVerdicts(queries, job);
    if (verdicts === null || !(await ranOn(queries, blobs, job, device))) continue;
    const found = describe(queries, origin, device, job, verdicts, suite, asked);
    if (found.unanswered === null) return found;
    newest ??= found;
  }
  return newest;
}

function isSameWork(queries: Queries, job: JobRow, suite: SelectedSuite, { arms, request }: Asked): boolean {
  const aside = (items: SelectedSuite['notComparable']) => items.map((item) => [item.arm, item.case]);
  if (canonicalJson([job.spec, job.arms, aside(job.notComparable)]) !== canonicalJson([suite.spec, suite.arms, aside(suite.notComparable)])) return false;
  const measured = listArms(queries, job.run).map(({ tree, settings }) => ({ tree, settings }));
  if (canonicalJson(measured) !== canonicalJson(arms)) return false;
  try {
    const { stack, mergeBase, calibrates, seed = 0 } = readSeal(findRun(queries, job.run)!.sealText);
    // Who names a seed wants that order of legs; who does not takes any.
    if (suite.spec.timed && request.seed !== undefined && request.seed !== seed) return false;
    // An A/A calibration is about its device, and answers no submission.
    return calibrates === undefined && stack === (request.stack ?? false) && mergeBase === request.mergeBase;
  } catch {
    // A seal that cannot be read vouches for nothing.
    return false;
  }
}

/** The job's verdicts as they are shown; null where one of them says that nothing was measured. */
function standingVerdicts(queries: Queries, job: JobRow): readonly Verdict[] | null {
  const broken = brokenSeal(queries, findRun(queries, job.run)!);
  const verdicts = shownVerdicts(queries, listJobs(queries, job.run), broken).get(job.id)!;
  return verdicts.length === 0 || verdicts.some(({ verdict }) => verdict === 'void' || verdict === 'not-run') ? null : verdicts;
}

/** Whether the device is what it was. A suite of printed lines has no records: its driver is the one that was registered at submission. */
async function ranOn(queries: Queries, blobs: BlobStore, job: JobRow, device: DeviceRow): Promise<boolean> {
  if (job.adapter !== device.adapter || job.evidence !== device.evidence) return false;
  const records = listLegResults(queries, job.id, job.acceptedAttempt!).find((leg) => leg.records !== null)?.records;
  if (records == null) {
    const driver = sealedNoise(findRun(queries, job.run)!.sealText).drivers[device.name];
    return driver === undefined || driver === device.driver;
  }
  const adapter = parseRecords(await blobs.read(records)).records.find((record) => record.kind === 'adapter');
  return adapter === undefined || adapter.driver === device.driver;
}

function describe(
  queries: Queries,
  origin: string,
  device: DeviceRow,
  job: JobRow,
  verdicts: readonly Verdict[],
  suite: SelectedSuite,
  { request }: Asked,
): MeasuredBefore {
  const { spec } = suite;
  const run = findRun(queries, job.run)!;
  const { rule } = readSeal(run.sealText);
  const pairs = earlierRuns(queries, run).reduce((sum, earlier) => sum + earlier.pairs, run.pairs);
  // Void pairs count in no figure, so they answer nothing.
  const counted = Math.min(pairs, ...verdicts.flatMap(({ effects }) => effects.map((effect) => effect.pairs.length)));
  const wanted = request.rule === undefined ? DEFAULT_RULE : readRule(request.rule);
  // A contract, and lines without a time, are judged alike under every rule and with any number of pairs.
  const ruled = spec.timed || spec.kind === 'decode';
  const unanswered =
    ruled && canonicalJson({ ...rule, text: '' }) !== canonicalJson({ ...wanted, text: '' })
      ? `it was judged by another rule: ${rule.text}`
      : spec.timed && counted < request.pairs
        ? `it has ${counted} pairs a case, and ${request.pairs} are asked for: fleet pairs add ${run.id} ${request.pairs - counted}`
        : spec.timed && rule.clauses.some(({ value }) => value === 'floor') && !isCalibratedAlike(queries, run, device, suite)
          ? 'it was judged by another A/A calibration than is newest, or by none'
          : null;
  return {
    device: job.device,
    suite: job.suite,
    run: run.id,
    url: `${origin}/runs/${run.id}`,
    at: listVerdicts(queries, job.id).at(-1)!.computedAt,
    rule: rule.text,
    pairs: counted,
    verdicts: verdicts.map(({ candidate, verdict, reason }) => ({ candidate, verdict, reason })),
    unanswered,
  };
}

/** Whether a run submitted now would be held against the floors that were sealed with this one. */
function isCalibratedAlike(queries: Queries, run: RunRow, device: DeviceRow, suite: SelectedSuite): boolean {
  const sealed = (sealedNoise(run.sealText).calibrations ?? []).filter((item) => item.device === device.name && item.suite === suite.name);
  return canonicalJson(sealed) === canonicalJson(calibrationsFor(queries, [device], [suite]));
}
