/**
 * The first question of a verdict: may these legs be judged at all? A leg counts only if the device's lock was held around
 * it, its process executed, its records are whole, and everything ran on one adapter and driver of the evidence asked for.
 * Otherwise the job is `void`, whatever the numbers say.
 */
import { parseRecords, type AdapterRecord, type EngineRecord } from '../../engine/protocol.ts';
import type { LegMeasure } from '../protocol/run.ts';
import { endsSeries } from '../protocol/states.ts';
import type { JudgedLeg, JudgeInput } from './judge-input.ts';
import { stripControls } from './mask.ts';

/** A leg that may be judged. `records` is empty in `lines` suites. */
export interface ReadLeg extends JudgedLeg {
  readonly measure: LegMeasure;
  readonly parsed: readonly EngineRecord[];
}

export type Validity = { readonly word: 'valid'; readonly legs: readonly ReadLeg[] } | { readonly word: 'void' | 'not-run'; readonly reason: string };

/**
 * Agents cut logs at 1 MiB, less what a cut through a character needs; stdout that reaches that far may be cut and cannot be
 * compared. (What an agent leaves out earlier it replaces by a line with a hash, which is compared like any line.)
 */
export const LOG_CAP_BYTES = 1024 * 1024 - 8;

/** The legs of a verdict's two arms, without cases that are not comparable. */
export function legsOf(input: JudgeInput): JudgedLeg[] {
  const skipped = new Set(input.notComparable?.map((item) => item.case));
  return input.legs.filter((leg) => (leg.arm === 0 || leg.arm === input.candidateArm) && !skipped.has(leg.case)).toSorted((a, b) => a.index - b.index);
}

/** `leg 3 (candidate HEAD[qmm=vec4], story)`. */
export function legName(input: JudgeInput, leg: JudgedLeg): string {
  return `leg ${leg.index} (${leg.arm === 0 ? `baseline ${input.baseline}` : `candidate ${input.candidate}`}, ${leg.case})`;
}

/** Checks every leg of both arms, first defect first. */
export function checkLegs(input: JudgeInput): Validity {
  if (input.evidence === 'software' && !input.allowSoftware) return voided('the device is a software adapter, and the run does not allow software');
  const legs = legsOf(input);
  const coverage = missingArm(input, legs);
  if (coverage !== null) return voided(coverage);
  const read: ReadLeg[] = [];
  const stopped = calledWrongly(input);
  if (stopped !== null) return voided(stopped);
  for (const leg of legs) {
    const { measure } = leg;
    if (measure === null) return voided(`${legName(input, leg)} was never posted`);
    if (measure.outcome === 'void-lock' || !measure.lockHeldBefore || !measure.lockHeldAfter) {
      const when = measure.lockHeldBefore ? 'after' : 'before';
      return voided(`the device's lock was not held ${when} ${legName(input, leg)}${detail(measure.note)}`);
    }
    read.push({ ...leg, measure, parsed: [] });
  }
  return input.kind === 'lines' ? checkLogs(input, read) : checkRecords(input, read);
}

/**
 * A command line that the engine refuses is refused in every leg of that arm, so the series ends there; the legs behind it have no
 * result, and the one that ended it is the reason, whichever arm it is of. In a `lines` suite a status is a finding.
 */
function calledWrongly(input: JudgeInput): string | null {
  const leg = input.legs.find((item) => item.measure !== null && endsSeries(input.kind, item.measure.outcome));
  if (leg === undefined) return null;
  const name = leg.arm === 0 || leg.arm === input.candidateArm ? legName(input, leg) : `leg ${leg.index} (another arm, ${leg.case})`;
  return `${name} ${ending(leg.measure!)}: ${stated(leg)}`;
}

const voided = (reason: string): Validity => ({ word: 'void', reason });
const detail = (note: string): string => (note === '' ? '' : `: ${note}`);

function missingArm(input: JudgeInput, legs: readonly JudgedLeg[]): string | null {
  if (legs.length === 0) return input.notComparable === undefined || input.notComparable.length === 0 ? 'the job has no legs' : null;
  for (const name of new Set(legs.map((leg) => leg.case))) {
    const arms = new Set(legs.filter((leg) => leg.case === name).map((leg) => leg.arm));
    if (!arms.has(0)) return `case ${name} has no leg of the baseline`;
    if (!arms.has(input.candidateArm)) return `case ${name} has no leg of the candidate`;
  }
  return null;
}

/** Signals that somebody else sends (a person, the kernel short of memory). A crash raises others, and those are findings. */
const FROM_OUTSIDE: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']);

/** In a `lines` suite a status that is not zero is a finding of the command, so only the log's wholeness and a natural end are asked for. */
function checkLogs(input: JudgeInput, legs: readonly ReadLeg[]): Validity {
  for (const leg of legs) {
    if (leg.log === null) return voided(`${legName(input, leg)} has no log`);
    const { outcome, signal } = leg.measure;
    if (outcome === 'signal' && signal !== null && FROM_OUTSIDE.has(signal)) return voided(`${legName(input, leg)} was ended from outside by ${signal}`);
    if ((leg.measure.stdoutBytes ?? Buffer.byteLength(leg.log)) >= LOG_CAP_BYTES)
      return voided(`the output of ${legName(input, leg)} was cut at 1 MiB, so its lines cannot all be compared`);
  }
  return { word: 'valid', legs };
}

function checkRecords(input: JudgeInput, legs: readonly ReadLeg[]): Validity {
  const refused = legs.filter((leg) => leg.measure.outcome === 'refused');
  if (legs.length > 0 && refused.length === legs.length) return { word: 'not-run', reason: `the engine refused every leg: ${stated(legs[0]!)}` };
  const read: ReadLeg[] = [];
  let first: { leg: ReadLeg; adapter: AdapterRecord } | null = null;
  for (const leg of legs) {
    if (leg.measure.outcome !== 'executed') return voided(`${legName(input, leg)} ${ending(leg.measure)}: ${stated(leg)}`);
    if (leg.records === null) return voided(`${legName(input, leg)} wrote no records`);
    let parsed: ReturnType<typeof parseRecords>;
    try {
      parsed = parseRecords(leg.records);
    } catch (error) {
      return voided(`${legName(input, leg)} wrote records that cannot be read: ${firstLine(error instanceof Error ? error.message : String(error))}`);
    }
    if (!parsed.whole) return voided(`the records of ${legName(input, leg)} are not whole`);
    const adapter = parsed.records.find((record) => record.kind === 'adapter');
    if (adapter === undefined) return voided(`${legName(input, leg)} names no adapter`);
    if (adapter.evidence !== input.evidence) {
      return voided(`${legName(input, leg)} ran on ${adapter.name} (${adapter.evidence}), but the device is registered as ${input.evidence}`);
    }
    if (input.adapter !== undefined && adapter.name !== input.adapter)
      return voided(`${legName(input, leg)} ran on ${adapter.name}, but the device is ${input.adapter}`);
    const current = { ...leg, parsed: parsed.records };
    if (first === null) first = { leg: current, adapter };
    else if (identityOf(adapter) !== identityOf(first.adapter)) {
      return voided(`the adapter changed: leg ${first.leg.index} ran on ${identityOf(first.adapter)}, leg ${leg.index} on ${identityOf(adapter)}`);
    }
    read.push(current);
  }
  return { word: 'valid', legs: read };
}

const identityOf = (adapter: AdapterRecord): string => `${adapter.name}, ${adapter.backend}, driver ${adapter.driver}`;

/** How a leg that did not execute ended, in words. */
export function ending(measure: LegMeasure): string {
  switch (measure.outcome) {
    case 'executed':
      return 'executed';
    case 'refused':
      return 'was refused';
    case 'usage':
      return 'was called wrongly (exit status 2)';
    case 'timeout':
      return 'timed out';
    case 'broken':
      return `broke (exit status ${measure.exitCode ?? 'unknown'})`;
    case 'signal':
      return `was ended by ${measure.signal ?? 'a signal'}`;
    case 'void-lock':
      return 'ran without the lock';
  }
}

/** What the leg itself says about its end: its refused or failure record, else its last line on stderr, else the agent's note. */
function stated(leg: JudgedLeg): string {
  try {
    const record = leg.records === null ? undefined : parseRecords(leg.records).records.find((line) => line.kind === 'refused' || line.kind === 'failure');
    if (record !== undefined && 'reason' in record) return `${firstLine(record.reason)}. next: ${firstLine(record.next)}`;
  } catch {
    // Records of a process that broke may be cut anywhere; the agent's note then has to do.
  }
  const note = leg.measure?.note ?? '';
  // The agent knows best of a leg that it had to end.
  const said = leg.measure?.outcome === 'timeout' ? [firstLine(note), lastErrorLine(leg)] : [lastErrorLine(leg), firstLine(note)];
  return said.find((text) => text !== '') ?? 'no reason was recorded';
}

/** The last line that the leg wrote on stderr: what, why and next, where an engine of this repository wrote it. */
function lastErrorLine({ log, measure }: JudgedLeg): string {
  if (log === null || measure?.stdoutBytes === undefined) return '';
  const stderr = Buffer.from(log, 'utf8').subarray(measure.stdoutBytes).toString('utf8');
  return stripControls(stderr.trim().split('\n').at(-1)!).slice(0, LINE_CHARACTERS);
}

/** A usage line lists what there is to choose from. */
const LINE_CHARACTERS = 500;

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.slice(0, 300);
}
