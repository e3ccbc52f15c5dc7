/** Opens what a head wrote. Its path was the head's to write to: a link, a pipe or a huge file must not be followed, waited for or loaded. */
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** An open file that the caller closes, or why it is none: `absent` (or a link), `no plain file`, or of more bytes than `most`. */
export type Written = { readonly handle: FileHandle; readonly bytes: number } | { readonly why: 'absent' | 'no plain file' } | { readonly tooLarge: number };

/** @param most bytes. */
export async function openWritten(file: string, most: number): Promise<Written> {
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return { why: 'absent' };
  }
  const found = await handle.stat();
  if (found.isFile() && found.size <= most) return { handle, bytes: found.size };
  await handle.close();
  return found.isFile() ? { tooLarge: found.size } : { why: 'no plain file' };
}
