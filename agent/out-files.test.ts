import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { legMeasure } from '../coordinator/protocol/run.ts';
import { listOutFiles } from './out-files.ts';

it('names every plain file below the folder with its SHA-256, follows no link, and counts what it leaves out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-out-'));
  expect(await listOutFiles(folder)).toEqual({});
  expect(await listOutFiles(join(folder, 'none'))).toEqual({});
  mkdirSync(join(folder, 'deep'));
  writeFileSync(join(folder, 'deep/b.bin'), 'bytes');
  writeFileSync(join(folder, 'a.txt'), '');
  symlinkSync('/etc/passwd', join(folder, 'link'));
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const listed = await listOutFiles(folder);
  expect(listed).toEqual({
    files: [
      { name: 'a.txt', bytes: 0, sha256: hash('') },
      { name: 'deep/b.bin', bytes: 5, sha256: hash('bytes') },
    ],
  });
  for (let i = 0; i < 250; i++) writeFileSync(join(folder, `many-${i}`), '');
  const many = legMeasure.pick({ files: true, filesLeftOut: true }).parse(await listOutFiles(folder));
  expect(many.files).toHaveLength(200);
  expect(many.filesLeftOut).toBe(52);
  rmSync(folder, { recursive: true });
});

it("leaves out a name that no measure may hold, and does not follow a link in the folder's place", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-out-'));
  const deep = join('x'.repeat(200), 'y'.repeat(200), 'z'.repeat(200));
  mkdirSync(join(folder, deep), { recursive: true });
  writeFileSync(join(folder, deep, 'long'), '');
  writeFileSync(join(folder, 'short'), '');
  expect(await listOutFiles(folder)).toMatchObject({ files: [{ name: 'short' }], filesLeftOut: 1 });
  const link = `${folder}-link`;
  symlinkSync(folder, link);
  expect(await listOutFiles(link)).toEqual({});
  for (const path of [link, folder]) rmSync(path, { recursive: true });
});
