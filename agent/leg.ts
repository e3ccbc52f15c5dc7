/** One leg: the folders and arguments its process gets, and what is made of how it ended. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { JobSpec, LegPost, LegSpec } from '../coordinator/protocol/agent.ts';
import type { LegMeasure } from '../coordinator/protocol/run.ts';
import { EXIT, type AdapterRecord } from '../engine/protocol.ts';
import { buildArgv } from './argv.ts';
import { removeTree } from './dependencies.ts';
import { headEnvironment } from './environment.ts';
import type { CommandResult } from './group-process.ts';
import { openWritten } from './open-written.ts';
import { listOutFiles } from './out-files.ts';
import type { LegCommand, LegReport } from './supervisor-protocol.ts';

const MAX_RECORDS_BYTES = 16 * 1024 * 1024;
/** Under the coordinator's 1 MiB, at which a log counts as cut. Two captures fit, unless most bytes are no UTF-8 and grow fourfold. */
const MAX_LOG_BYTES = 1024 * 1024;

export interface PreparedLeg {
  command: Omit<LegCommand, 'kind'>;
  recordsFile: string;
  /** Where the leg was told to write its logits rows; null: it was not. */
  logitsFile: string | null;
  /** HOME and TMPDIR; removed after the leg. (XDG_CACHE_HOME stays with the attempt.) */
  scratch: string;
}

/**
 * Makes a leg's folders and builds its command.
 * @param kept folder that stays with the leg: `records.ndjson`, `out/`, `pinned.json`.
 * @param scratchRoot where short-lived folders go; short, since programs make sockets in TMPDIR.
 */
export async function prepareLeg(
  job: JobSpec,
  leg: LegSpec,
  where: { worktree: string; kept: string; scratchRoot: string; marker: string; withRows: boolean },
  adapter: AdapterRecord,
): Promise<PreparedLeg> {
  await removeTree(where.kept);
  const outFolder = join(where.kept, 'out');
  await mkdir(outFolder, { recursive: true });
  await mkdir(where.scratchRoot, { recursive: true });
  const scratch = await mkdtemp(join(where.scratchRoot, 'leg-'));
  // A driver's shader cache is kept between the legs of one head within one attempt, and reaches no other head: what a head put there
  // cannot change what another one computes. With a cold cache lavapipe spends half of a contract leg in LLVM (35 s of 19 + 16 s).
  const folders = { home: join(scratch, 'home'), tmp: join(scratch, 'tmp'), cache: join(dirname(where.kept), `cache-${leg.head.slice(0, 12)}`) };
  await mkdir(folders.home);
  await mkdir(folders.cache, { recursive: true });
  await mkdir(folders.tmp, { mode: 0o700 });
  const recordsFile = join(where.kept, 'records.ndjson');
  let pinnedFile: string | null = null;
  if (leg.pinnedIds !== null) {
    pinnedFile = join(where.kept, 'pinned.json');
    await writeFile(pinnedFile, JSON.stringify(leg.pinnedIds));
  }
  const logitsFile = where.withRows ? join(where.kept, 'logits.f32') : null;
  const argv = buildArgv({
    command: job.spec.command,
    args: leg.args,
    takesSettings: job.spec.settings,
    settings: leg.settings,
    case: leg.case,
    adapter: adapter.name,
    evidence: adapter.evidence,
    recordsFile,
    outFolder,
    pinnedFile,
    logitsFile,
  });
  const env = headEnvironment(folders, adapter);
  const command = { index: leg.index, argv, cwd: where.worktree, env, timeoutMs: job.spec.timeoutS * 1000, marker: where.marker };
  return { command, recordsFile, logitsFile, scratch };
}

/** What is posted for a leg that ended. Removes its scratch folders. */
export async function finishLeg(job: JobSpec, prepared: PreparedLeg, report: LegReport, machine: LegMeasure['machine']): Promise<LegPost> {
  const records = job.spec.kind === 'lines' ? { text: null, note: '' } : await readRecords(prepared.recordsFile);
  await rm(prepared.scratch, { recursive: true, force: true });
  const { log, stdoutBytes } = joinLog(report.ran?.stdout ?? '', report.ran?.stderr ?? '');
  const files = await listOutFiles(join(dirname(prepared.recordsFile), 'out'));
  return { measure: { ...measureOf(report, stdoutBytes, records.note), ...files, machine }, records: records.text, log };
}

/** The measure of one leg. `outcome` speaks the engine's exit statuses; judging is the coordinator's. */
export function measureOf(report: LegReport, stdoutBytes: number, recordsNote: string): LegMeasure {
  const { ran, lockHeldBefore, lockHeldAfter, lockTakenBy } = report;
  const taker = lockTakenBy === null ? '' : `; it is held by ${lockTakenBy}`;
  const notes = [recordsNote];
  if (!lockHeldBefore) notes.unshift(`the GPU lock was lost before this leg, so it was not started${taker}`);
  else if (!lockHeldAfter) notes.unshift(`the GPU lock was lost while this leg ran${taker}`);
  if (ran !== null) {
    if (ran.spawnError !== null) notes.push(ran.spawnError);
    if (ran.timedOut) notes.push(`ended at the time limit after ${(ran.wallMs / 1000).toFixed(1)} s`);
    if (ran.droppedBytes > 0) notes.push(`${ran.droppedBytes} bytes of output were left out of the log`);
    if (ran.swept > 0) notes.push(`${ran.swept} processes that had left the group were ended`);
  }
  return {
    outcome: lockHeldBefore && lockHeldAfter ? outcomeOf(ran) : 'void-lock',
    exitCode: ran?.exitCode ?? null,
    signal: ran?.signal ?? null,
    startedAt: ran?.startedAt ?? new Date().toISOString(),
    wallMs: ran?.wallMs ?? 0,
    vmHwmKiB: ran?.vmHwmKiB ?? null,
    majorFaults: ran?.majorFaults ?? null,
    lockHeldBefore,
    lockHeldAfter,
    stdoutBytes,
    note: notes.filter((note) => note !== '').join('; '),
  };
}

function outcomeOf(ran: CommandResult | null): LegMeasure['outcome'] {
  if (ran === null || ran.spawnError !== null) return 'broken';
  if (ran.timedOut || ran.exitCode === EXIT.timeout) return 'timeout';
  if (ran.signal !== null) return 'signal';
  if (ran.exitCode === EXIT.executed) return 'executed';
  if (ran.exitCode === EXIT.refused) return 'refused';
  if (ran.exitCode === EXIT.usage) return 'usage';
  return 'broken';
}

/** Puts stderr behind stdout, within 1 MiB. */
function joinLog(stdout: string, stderr: string): { log: string; stdoutBytes: number } {
  const out = Buffer.from(stdout, 'utf8');
  const all = Buffer.concat([out, Buffer.from(stderr, 'utf8')]);
  // A cut through a character grows by up to two bytes when it is read back, hence the margin.
  const log = all.length <= MAX_LOG_BYTES ? all.toString('utf8') : all.subarray(0, MAX_LOG_BYTES - 2).toString('utf8');
  return { log, stdoutBytes: Math.min(out.length, Buffer.byteLength(log, 'utf8')) };
}

async function readRecords(file: string): Promise<{ text: string | null; note: string }> {
  const opened = await openWritten(file, MAX_RECORDS_BYTES);
  if ('tooLarge' in opened) return { text: null, note: `the records file has ${opened.tooLarge} bytes, over the limit of ${MAX_RECORDS_BYTES}` };
  if ('why' in opened) return { text: null, note: opened.why === 'absent' ? 'no records file' : `the records file is ${opened.why}` };
  try {
    return { text: await opened.handle.readFile('utf8'), note: '' };
  } finally {
    await opened.handle.close();
  }
}
