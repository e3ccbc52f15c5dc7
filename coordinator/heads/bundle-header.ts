/** Reads the text header of a git bundle, so that only its pack reaches git (gitformat-bundle(5), versions 2 and 3). */
import { Refusal } from '../refusal.ts';

export interface BundleHeader {
  /** Commits that the receiver must have. */
  readonly prerequisites: string[];
  readonly tips: string[];
}

const MAX_HEADER_BYTES = 1024 * 1024;

const refuse = (why: string): Refusal => new Refusal('bad-request', `not a git bundle: ${why}`, 'make it with: git bundle create FILE REF --not COMMIT');

/**
 * Splits a bundle stream into its header and the pack that follows.
 * @throws Refusal for anything but a version 2 or 3 bundle of SHA-1 objects without a filter.
 */
export async function splitBundle(stream: AsyncIterable<Uint8Array>): Promise<{ header: BundleHeader; pack: AsyncGenerator<Uint8Array> }> {
  const chunks = stream[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  let end = -1;
  while (end < 0) {
    const next = await chunks.next();
    if (next.done) throw refuse('it ends within its header');
    held = Buffer.concat([held, next.value]);
    if (held.length >= 16 && !held.subarray(0, 16).toString('latin1').startsWith('# v')) throw refuse('it does not begin with "# v2 git bundle"');
    end = held.indexOf('\n\n');
    if (end < 0 && held.length > MAX_HEADER_BYTES) throw refuse(`its header is over ${MAX_HEADER_BYTES} bytes`);
  }
  const header = parseHeader(held.subarray(0, end).toString('latin1').split('\n'));
  const rest = held.subarray(end + 2);
  async function* pack(): AsyncGenerator<Uint8Array> {
    yield rest;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  return { header, pack: pack() };
}

function parseHeader([signature, ...lines]: string[]): BundleHeader {
  if (signature !== '# v2 git bundle' && signature !== '# v3 git bundle') throw refuse(`unknown signature ${JSON.stringify(signature?.slice(0, 40))}`);
  const header: BundleHeader = { prerequisites: [], tips: [] };
  for (const line of lines) {
    if (line.startsWith('@')) {
      if (signature === '# v3 git bundle' && line === '@object-format=sha1') continue;
      throw refuse(`capability ${JSON.stringify(line.slice(0, 60))} is not served`);
    }
    const prerequisite = /^-([0-9a-f]{40})(?: .*)?$/.exec(line);
    const tip = /^([0-9a-f]{40}) \S+$/.exec(line);
    if (prerequisite?.[1]) header.prerequisites.push(prerequisite[1]);
    else if (tip?.[1]) header.tips.push(tip[1]);
    else throw refuse(`unreadable header line ${JSON.stringify(line.slice(0, 60))}`);
  }
  if (header.tips.length === 0) throw refuse('it names no head');
  return header;
}
