/** The tar around a receipt's files. What a machine or a moment would leave in it (times, owners, modes) is fixed. */
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack } from 'tar-stream';
import type { ReceiptFiles } from './core/receipt.ts';
import { ReceiptError } from './core/receipt-error.ts';

/** A file on its way into an archive; its text is read when its turn comes. */
export interface ArchiveFile {
  readonly name: string;
  readonly text: () => Promise<string> | string;
}

/** Streams an archive of these files, in the order given. A failed read destroys the stream. */
export function writeArchive(files: readonly ArchiveFile[]): Readable {
  const archive = pack();
  const fill = async (): Promise<void> => {
    for (const { name, text } of files) {
      const bytes = Buffer.from(await text(), 'utf8');
      const header = { name, size: bytes.length, mode: 0o644, uid: 0, gid: 0, uname: '', gname: '', mtime: new Date(0), type: 'file' as const };
      await new Promise<void>((resolve, reject) => archive.entry(header, bytes, (error) => (error ? reject(error) : resolve())));
    }
    archive.finalize();
  };
  fill().catch((error: unknown) => archive.destroy(error as Error));
  // tar-stream's own stream is no node:stream; the web and Node know this one.
  return Readable.from(archive);
}

/** More than any receipt holds; a larger archive is none. */
const MAX_RECEIPT_BYTES = 4 * 1024 * 1024 * 1024;

/** Reads an archive whole. Nothing is written anywhere: names are keys, not paths. @throws ReceiptError when it is no tar. */
export async function readArchive(bytes: AsyncIterable<Uint8Array>): Promise<ReceiptFiles> {
  const files = new Map<string, string>();
  const reader = extract();
  const fed = pipeline(counted(bytes), reader);
  // The loop below meets the same failure; this one must not go unhandled meanwhile.
  fed.catch(() => {});
  try {
    for await (const entry of reader) {
      if (entry.header.type !== 'file' || files.has(entry.header.name)) throw new ReceiptError(`it holds ${entry.header.name}, which no receipt does`);
      files.set(entry.header.name, (await buffer(entry)).toString('utf8'));
    }
    await fed;
  } catch (cause) {
    throw cause instanceof ReceiptError ? cause : new ReceiptError(`it is no tar: ${(cause as Error).message}`, { cause });
  }
  if (files.size === 0) throw new ReceiptError('it is no tar, or an empty one');
  return files;
}

async function* counted(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let byteLength = 0;
  for await (const chunk of bytes) {
    byteLength += chunk.length;
    if (byteLength > MAX_RECEIPT_BYTES) throw new ReceiptError('it is over 4 GiB');
    yield chunk;
  }
}
