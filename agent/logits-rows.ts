/**
 * Compares the logits rows of two legs on the box, where the sealed identity is `logits <= X`: the rows need not travel, the figures do.
 * No judgement: what a difference means is the coordinator's, which also holds the SHA-256 of each file against the leg's own record.
 */
import { createHash } from 'node:crypto';
import { rm, type FileHandle } from 'node:fs/promises';
import type { RowsPair } from '../coordinator/protocol/agent.ts';
import type { RowsComparison } from '../coordinator/protocol/run.ts';
import { parseRecords } from '../engine/protocol.ts';
import { openWritten } from './open-written.ts';

/** More than 4,096 steps of a vocabulary of 262,144. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;
/** Sixteen times those steps, and four times that row: the head says how many rows there are, and two rows are held at once. */
const MAX_ROWS = 65_536;
const MAX_ROW_BYTES = 4 * 1024 ** 2;

interface Ended {
  readonly file: string;
  /** Rows that the leg's decode record states; null: it has none. */
  readonly steps: number | null;
}

/** The comparisons of one attempt. A file is removed once nothing waits for it. */
export class LogitsRows {
  readonly #pairs: readonly RowsPair[];
  readonly #ended = new Map<number, Ended>();
  readonly #done = new Set<RowsPair>();

  constructor(pairs: readonly RowsPair[]) {
    this.#pairs = pairs;
  }

  /** Whether a leg must write its rows. */
  wants(leg: number): boolean {
    return this.#pairs.some((pair) => pair.baselineLeg === leg || pair.candidateLeg === leg);
  }

  /** Takes a leg that ended. @returns the comparisons that it completes. */
  async ended(leg: number, file: string, records: string | null): Promise<RowsComparison[]> {
    this.#ended.set(leg, { file, steps: stepsOf(records) });
    const found: RowsComparison[] = [];
    for (const pair of this.#pairs) {
      const [baseline, candidate] = [this.#ended.get(pair.baselineLeg), this.#ended.get(pair.candidateLeg)];
      if (this.#done.has(pair) || baseline === undefined || candidate === undefined) continue;
      this.#done.add(pair);
      found.push({ ...pair, ...(await compareRows(baseline, candidate)) });
    }
    for (const [index, { file: written }] of this.#ended)
      if (!this.#pairs.some((pair) => (pair.baselineLeg === index || pair.candidateLeg === index) && !this.#done.has(pair)))
        // A head may have made a folder of it.
        await rm(written, { force: true, recursive: true });
    return found;
  }
}

function stepsOf(records: string | null): number | null {
  if (records === null) return null;
  try {
    return parseRecords(records).records.find((record) => record.kind === 'decode')?.steps ?? null;
  } catch {
    // What is wrong with the records is said where they are judged.
    return null;
  }
}

type Figures = Omit<RowsComparison, 'baselineLeg' | 'candidateLeg'>;

/**
 * Compares two files of little-endian float32 rows, one row at a time. A figure that cannot be had is null, and `note` says why.
 * @param baseline `steps` is the number of rows; both files must hold as many, of the same length.
 */
export async function compareRows(baseline: Ended, candidate: Ended): Promise<Figures> {
  const [a, b] = [await openRows(baseline.file), await openRows(candidate.file)];
  try {
    const unknown = (note: string): Figures => ({ ...NOTHING, note });
    if (typeof a === 'string') return unknown(`baseline: ${a}`);
    if (typeof b === 'string') return unknown(`candidate: ${b}`);
    const { steps } = baseline;
    if (steps === null || candidate.steps === null) return unknown('a leg holds no decode record');
    if (steps !== candidate.steps || a.bytes !== b.bytes) return unknown(`${steps} rows in ${a.bytes} bytes against ${candidate.steps} in ${b.bytes}`);
    if (steps < 1 || steps > MAX_ROWS || a.bytes / steps > MAX_ROW_BYTES)
      return unknown(`${steps} rows in ${a.bytes} bytes are over the limits of ${MAX_ROWS} rows and ${MAX_ROW_BYTES} bytes a row`);
    if (a.bytes === 0 || a.bytes % (4 * steps) !== 0) return unknown(`${a.bytes} bytes are not ${steps} rows of float32`);
    return await compareOpen(a.handle, b.handle, steps, a.bytes / steps);
  } finally {
    for (const opened of [a, b]) if (typeof opened !== 'string') await opened.handle.close();
  }
}

const NOTHING: Figures = {
  baselineSha256: null,
  candidateSha256: null,
  rows: 0,
  columns: 0,
  idsEqual: null,
  firstDifferingStep: null,
  marginThere: null,
  maxAbsDifference: null,
  atStep: null,
  note: '',
};

async function compareOpen(left: FileHandle, right: FileHandle, rows: number, rowBytes: number): Promise<Figures> {
  const [a, b] = [new Uint8Array(rowBytes), new Uint8Array(rowBytes)];
  const [x, y] = [new Float32Array(a.buffer), new Float32Array(b.buffer)];
  const [hashA, hashB] = [createHash('sha256'), createHash('sha256')];
  const found = { ...NOTHING, rows, columns: rowBytes / 4, idsEqual: true, maxAbsDifference: 0, atStep: 0 } as Figures & { maxAbsDifference: number };
  let bad: string | null = null;
  for (let step = 0; step < rows; step++) {
    if (!(await fill(left, a)) || !(await fill(right, b))) return { ...NOTHING, note: `a file ended in row ${step}` };
    hashA.update(a);
    hashB.update(b);
    const row = compareRow(x, y);
    if (row.notFinite) bad ??= `row ${step} holds a logit that is not finite`;
    if (row.idA !== row.idB) found.idsEqual = false;
    if (row.differs && found.firstDifferingStep === null) Object.assign(found, { firstDifferingStep: step, marginThere: row.margin });
    if (row.largest > found.maxAbsDifference) Object.assign(found, { maxAbsDifference: row.largest, atStep: step });
    // Rows are megabytes: the queue's lock has to be renewed between them.
    await new Promise((next) => setImmediate(next));
  }
  const hashes = { baselineSha256: hashA.digest('hex'), candidateSha256: hashB.digest('hex') };
  return bad === null ? { ...found, ...hashes } : { ...NOTHING, ...hashes, rows, columns: rowBytes / 4, note: bad };
}

interface RowFigures {
  readonly idA: number;
  readonly idB: number;
  /** The baseline's first logit above its second. */
  readonly margin: number;
  readonly largest: number;
  readonly differs: boolean;
  readonly notFinite: boolean;
}

/** The first of equal logits is chosen, as kernels/argmax does. */
function compareRow(x: Float32Array, y: Float32Array): RowFigures {
  const [bitsX, bitsY] = [new Uint32Array(x.buffer), new Uint32Array(y.buffer)];
  let [idA, idB, first, second, firstB, largest] = [0, 0, -Infinity, -Infinity, -Infinity, 0];
  let [differs, notFinite] = [false, false];
  for (let i = 0; i < x.length; i++) {
    const [p, q] = [x[i]!, y[i]!];
    if (p > first) [second, first, idA] = [first, p, i];
    else if (p > second) second = p;
    if (q > firstB) [firstB, idB] = [q, i];
    if (bitsX[i] !== bitsY[i]) {
      differs = true;
      const difference = Math.abs(p - q);
      if (difference > largest) largest = difference;
    }
    if (!Number.isFinite(p) || !Number.isFinite(q)) notFinite = true;
  }
  return { idA, idB, margin: x.length > 1 ? first - second : 0, largest, differs, notFinite };
}

/** Fills a buffer from where the file stands. @returns whether there was enough. */
async function fill(handle: FileHandle, buffer: Uint8Array): Promise<boolean> {
  for (let at = 0; at < buffer.length;) {
    const { bytesRead } = await handle.read(buffer, at, buffer.length - at);
    if (bytesRead === 0) return false;
    at += bytesRead;
  }
  return true;
}

async function openRows(file: string): Promise<{ handle: FileHandle; bytes: number } | string> {
  const opened = await openWritten(file, MAX_FILE_BYTES);
  if ('tooLarge' in opened) return `its rows have ${opened.tooLarge} bytes, over the limit of ${MAX_FILE_BYTES}`;
  if ('why' in opened) return opened.why === 'absent' ? 'the leg wrote no rows' : `its rows are ${opened.why}`;
  return opened;
}
