/** Content-addressed files: `blobs/ab/SHA256`. A file is whole and fsynced before anything refers to it, and never changes. */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from './refusal.ts';

/** No blob is larger; agents cap what they post below this. */
export const MAX_BLOB_BYTES = 16 * 1024 * 1024;

export interface BlobStore {
  /** Stores UTF-8 text. @returns its SHA-256 and length. @throws Refusal too-large. */
  put(text: string): Promise<{ sha256: string; byteLength: number }>;
  /** @throws Error when the file is missing or its content no longer has its name. */
  read(sha256: string): Promise<string>;
}

export function openBlobs(directory: string, tmp: string): BlobStore {
  const pathOf = (sha256: string): string => join(directory, sha256.slice(0, 2), sha256);
  let sequence = 0;
  return {
    async put(text) {
      const bytes = Buffer.from(text, 'utf8');
      if (bytes.length > MAX_BLOB_BYTES)
        throw new Refusal('too-large', `a file of ${bytes.length} bytes is over the limit of ${MAX_BLOB_BYTES}`, 'post a shorter log or fewer records');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const path = pathOf(sha256);
      const there = await stat(path).catch(() => null);
      if (there?.size !== bytes.length) {
        const folder = join(directory, sha256.slice(0, 2));
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const draft = join(tmp, `blob-${process.pid}-${sequence++}`);
        const file = await open(draft, 'wx', 0o600);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(draft, path);
        for (const parent of [folder, directory]) await syncFolder(parent);
      }
      return { sha256, byteLength: bytes.length };
    },
    async read(sha256) {
      const bytes = await readFile(pathOf(sha256));
      const found = createHash('sha256').update(bytes).digest('hex');
      if (found !== sha256) throw new Error(`blob ${sha256} now has SHA-256 ${found}: the disk or a person changed it`);
      return bytes.toString('utf8');
    },
  };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
