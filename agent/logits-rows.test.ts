/** Rows in real files: figures worked by hand, and everything that cannot be compared. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { compareRows, LogitsRows } from './logits-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleet-rows-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function written(rows: readonly (readonly number[])[]): string {
  const file = join(folder, `${files++}.f32`);
  writeFileSync(file, Buffer.from(new Float32Array(rows.flat()).buffer));
  return file;
}
const leg = (rows: readonly (readonly number[])[]) => ({ file: written(rows), steps: rows.length });
const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

const ROWS = [
  [1, 5, 2],
  [0.5, -1, 0.25],
  [3, 3, -3],
] as const;

it('finds nothing between equal rows', async () => {
  const [a, b] = [leg(ROWS), leg(ROWS)];
  expect(await compareRows(a, b)).toEqual({
    baselineSha256: sha256(a.file),
    candidateSha256: sha256(a.file),
    rows: 3,
    columns: 3,
    idsEqual: true,
    firstDifferingStep: null,
    marginThere: null,
    maxAbsDifference: 0,
    atStep: 0,
    note: '',
  });
});

it('gives the largest difference and its step, the first differing step, and the margin there', async () => {
  const b = leg([ROWS[0], [0.5, -1.0625, 0.25], [3, 2.75, -3]]);
  expect(await compareRows(leg(ROWS), b)).toMatchObject({ idsEqual: true, firstDifferingStep: 1, marginThere: 0.25, maxAbsDifference: 0.25, atStep: 2 });
});

it('sees another choice, and takes the first of equal logits', async () => {
  expect(await compareRows(leg(ROWS), leg([ROWS[0], ROWS[1], [3, 3.5, -3]]))).toMatchObject({ idsEqual: false, marginThere: 0 });
  expect(await compareRows(leg([[2, 2]]), leg([[2, 1]]))).toMatchObject({ idsEqual: true, maxAbsDifference: 1 });
});

it('minus zero has other bits and no difference', async () => {
  expect(await compareRows(leg([[0, 1]]), leg([[-0, 1]]))).toMatchObject({ firstDifferingStep: 0, maxAbsDifference: 0, idsEqual: true });
});

it.each([[Number.NaN], [Number.POSITIVE_INFINITY]])('%s: no figure, and the row that holds it', async (value) => {
  expect(await compareRows(leg(ROWS), leg([ROWS[0], [0.5, value, 0.25], ROWS[2]]))).toMatchObject({
    maxAbsDifference: null,
    idsEqual: null,
    candidateSha256: expect.any(String),
    note: 'row 1 holds a logit that is not finite',
  });
});

it('reads no more rows, and no longer ones, than a decode has: their number is the head’s word', async () => {
  const large = join(folder, 'large.f32');
  writeFileSync(large, '');
  truncateSync(large, 8 * 1024 ** 2);
  for (const steps of [0, 1, 2 * 1024 ** 2])
    expect((await compareRows({ file: large, steps }, { file: large, steps })).note).toMatch(/over the limits of 65536 rows and 4194304 bytes a row$/);
});

it('removes a folder that a head made in place of its rows', async () => {
  const [base, made] = [leg(ROWS).file, join(folder, 'made.f32')];
  mkdirSync(made);
  const rows = new LogitsRows([{ baselineLeg: 0, candidateLeg: 1 }]);
  await rows.ended(0, base, null);
  expect(await rows.ended(1, made, null)).toMatchObject([{ note: 'candidate: its rows are no plain file' }]);
  expect(existsSync(made)).toBe(false);
});

it('says of a file that is missing, a link, or of another length, what is wrong', async () => {
  const a = leg(ROWS);
  const link = join(folder, 'link.f32');
  symlinkSync(a.file, link);
  const short = leg(ROWS);
  truncateSync(short.file, 35);
  const noteOf = async (other: { file: string; steps: number | null }): Promise<string> => {
    const found = await compareRows(a, other);
    expect(found.maxAbsDifference).toBe(null);
    return found.note;
  };
  expect(await noteOf({ file: join(folder, 'none'), steps: 3 })).toBe('candidate: the leg wrote no rows');
  expect(await noteOf({ file: link, steps: 3 })).toBe('candidate: the leg wrote no rows');
  expect(await noteOf({ file: folder, steps: 3 })).toBe('candidate: its rows are no plain file');
  expect(await noteOf(short)).toBe('3 rows in 36 bytes against 3 in 35');
  expect(await noteOf({ ...leg(ROWS), steps: null })).toBe('a leg holds no decode record');
  expect((await compareRows({ ...a, steps: 5 }, { ...leg(ROWS), steps: 5 })).note).toBe('36 bytes are not 5 rows of float32');
});

it('compares once both legs of a pair are in, and keeps a file only as long as a pair waits for it', async () => {
  const rows = new LogitsRows([
    { baselineLeg: 0, candidateLeg: 1 },
    { baselineLeg: 0, candidateLeg: 2 },
  ]);
  expect([0, 1, 2, 3].map((index) => rows.wants(index))).toEqual([true, true, true, false]);
  const [a, b, c] = [written(ROWS), written(ROWS), written(ROWS)];
  expect(await rows.ended(1, b, null)).toEqual([]);
  expect(await rows.ended(0, a, null)).toMatchObject([{ baselineLeg: 0, candidateLeg: 1, note: 'a leg holds no decode record' }]);
  expect([a, b, c].map((file) => existsSync(file))).toEqual([true, false, true]);
  expect(await rows.ended(2, c, 'no records')).toMatchObject([{ baselineLeg: 0, candidateLeg: 2 }]);
  expect([a, c].map((file) => existsSync(file))).toEqual([false, false]);
});
