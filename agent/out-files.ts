/** The files that a leg left in its `{out}` folder: named with their SHA-256 in its measure. They stay on this host. */
import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LegMeasure } from '../coordinator/protocol/run.ts';
import { openWritten } from './open-written.ts';

/** A head writes what it likes: more is counted, and not read. */
const MAX_FILES = 200;
const MAX_BYTES = 1024 ** 3;
/** A longer name is no part of a measure (`legMeasure`). */
const MAX_NAME = 500;

type Listed = Pick<LegMeasure, 'files' | 'filesLeftOut'>;

/** Lists the plain files in a folder and those below it, sorted by name. Links are not followed. @returns nothing where there are none. */
export async function listOutFiles(folder: string): Promise<Listed> {
  // A head may have put a link in its place.
  if (!(await lstat(folder).catch(() => null))?.isDirectory()) return {};
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
  const files: NonNullable<Listed['files']> = [];
  let read = 0;
  for (const name of names.slice(0, MAX_FILES)) {
    if (name.length > MAX_NAME) continue;
    const found = await hashOf(join(folder, name), MAX_BYTES - read);
    if (found === null) continue;
    read += found.bytes;
    files.push({ name, ...found });
  }
  if (names.length === 0) return {};
  return files.length === names.length ? { files } : { files, filesLeftOut: names.length - files.length };
}

async function hashOf(file: string, most: number): Promise<{ bytes: number; sha256: string } | null> {
  const opened = await openWritten(file, most);
  if (!('handle' in opened)) return null;
  const { handle } = opened;
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      // It may grow while it is read.
      if (bytes > most) return null;
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}
