import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAX_BLOB_BYTES, openBlobs } from './blobs.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fleet-blobs-'));
  for (const name of ['blobs', 'tmp']) mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

// SHA-256 of "abc", FIPS 180-2 appendix B.1.
const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

it('stores a text under its SHA-256, once, and reads it back', async () => {
  const blobs = openBlobs(join(root, 'blobs'), join(root, 'tmp'));
  expect(await Promise.all([blobs.put('abc'), blobs.put('abc')])).toEqual([
    { sha256: ABC, byteLength: 3 },
    { sha256: ABC, byteLength: 3 },
  ]);
  expect(readdirSync(join(root, 'blobs', 'ba'))).toEqual([ABC]);
  expect(readdirSync(join(root, 'tmp'))).toEqual([]);
  expect(await blobs.read(ABC)).toBe('abc');
});

it('refuses what is over the cap, and does not hand out a file that was changed', async () => {
  const blobs = openBlobs(join(root, 'blobs'), join(root, 'tmp'));
  await expect(blobs.put('x'.repeat(MAX_BLOB_BYTES + 1))).rejects.toMatchObject({ code: 'too-large' });
  await blobs.put('abc');
  writeFileSync(join(root, 'blobs', 'ba', ABC), 'abd');
  await expect(blobs.read(ABC)).rejects.toThrow('changed it');
});
