/**
 * The coordinator's git objects: one bare repository. Heads come in and go out as bundles and are read with `git show`.
 * Nothing is ever checked out. Every kept head has the ref `refs/fleet/SHA`, so all its objects stay.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_BUNDLE_BYTES } from '../protocol/heads.ts';
import { Refusal } from '../refusal.ts';
import { splitBundle } from './bundle-header.ts';
import { git } from './git.ts';

const MAX_SHOWN_BYTES = 4 * 1024 * 1024;

export interface Heads {
  /** Which of these commits are here, with everything they reach. */
  have(commits: readonly string[]): Promise<string[]>;
  /**
   * Adds a bundle's objects, strictly checked, and keeps `heads`, which must be in it (as tips or below them) or be here already.
   * @throws Refusal for a bad, too large or unconnected bundle; then nothing of it stays.
   */
  ingest(bundle: AsyncIterable<Uint8Array>, heads: readonly string[]): Promise<void>;
  /** Writes a bundle of a head, less what the receiver has, and returns its path (the caller removes it); null when nothing is left to send. */
  bundle(head: string, have: readonly string[]): Promise<string | null>;
  /** A file of a head; null when the head has none at that path. @throws Refusal when it is over 4 MiB. */
  show(head: string, path: string): Promise<Buffer | null>;
  /** @throws Refusal unknown-head. */
  describe(head: string): Promise<{ tree: string; subject: string }>;
}

/** Opens or creates the repository. @param tmp where outgoing bundles are made. */
export async function openHeads(repository: string, tmp: string): Promise<Heads> {
  if (!existsSync(join(repository, 'HEAD'))) {
    const made = await git(tmp, ['init', '--bare', '--quiet', '--template=', '--', repository]);
    if (made.status !== 0) throw new Error(`git init ${repository} failed: ${made.stderr}`);
  }

  const have = async (commits: readonly string[], quarantine?: string): Promise<string[]> => {
    if (commits.length === 0) return [];
    const found = await git(repository, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], `${commits.join('\n')}\n`, quarantine);
    return found.stdout
      .toString('latin1')
      .split('\n')
      .flatMap((line) => /^([0-9a-f]{40}) commit$/.exec(line)?.[1] ?? []);
  };

  const keep = async (heads: readonly string[]): Promise<void> => {
    const updated = await git(repository, ['update-ref', '--stdin'], heads.map((head) => `update refs/fleet/${head} ${head}\n`).join(''));
    if (updated.status !== 0) throw new Error(`git update-ref failed: ${updated.stderr}`);
  };

  return {
    have: (commits) => have(commits),

    async ingest(stream, heads) {
      const { header, pack } = await splitBundle(limited(stream));
      const present = new Set(await have(header.prerequisites));
      const base = header.prerequisites.find((commit) => !present.has(commit));
      if (base !== undefined)
        throw new Refusal(
          'unknown-head',
          `the bundle builds on commit ${base}, which is not here`,
          'ask POST /api/heads/have and cut the bundle at a commit that is present',
        );

      // New objects stay apart until they were checked, so that what is here is always connected.
      const quarantine = join(tmp, `objects-${randomBytes(8).toString('hex')}`);
      await mkdir(join(quarantine, 'pack'), { recursive: true });
      try {
        const indexed = await git(repository, ['index-pack', '--strict', '--fix-thin', '--stdin'], pack, quarantine);
        if (indexed.status !== 0)
          throw new Refusal('bad-request', `git refuses the bundle: ${firstFatal(indexed.stderr)}`, 'check the repository with: git fsck --strict');
        const commits = new Set(await have(heads, quarantine));
        const absent = heads.find((head) => !commits.has(head));
        if (absent !== undefined)
          throw new Refusal('unknown-head', `the bundle does not hold head ${absent}`, 'bundle a ref that reaches it: git bundle create FILE REF');
        const connected = await git(
          repository,
          ['rev-list', '--objects', '--quiet', '--stdin', '--not', '--glob=refs/fleet/*'],
          `${heads.join('\n')}\n`,
          quarantine,
        );
        if (connected.status !== 0)
          throw new Refusal('bad-request', `the bundle lacks objects: ${firstFatal(connected.stderr)}`, 'make the bundle again from a complete clone');
        // The index last: a pack without one is not looked at.
        const files = await readdir(join(quarantine, 'pack'));
        for (const file of files.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
          await rename(join(quarantine, 'pack', file), join(repository, 'objects', 'pack', file));
        }
      } finally {
        await rm(quarantine, { recursive: true, force: true });
      }
      await keep(heads);
    },

    async bundle(head, receiverHas) {
      if ((await have([head])).length === 0) throw unknownHead(head);
      await keep([head]);
      const cut = await have(receiverHas);
      const path = join(tmp, `bundle-${randomBytes(8).toString('hex')}`);
      const made = await git(repository, ['bundle', 'create', '--quiet', path, `refs/fleet/${head}`, ...cut.map((commit) => `^${commit}`)]);
      if (made.status === 0) return path;
      await rm(path, { force: true });
      if (made.stderr.includes('empty bundle')) return null;
      throw new Error(`git bundle create failed: ${made.stderr}`);
    },

    async show(head, path) {
      const object = `${head}:${path}`;
      const size = await git(repository, ['cat-file', '--batch-check=%(objecttype) %(objectsize)'], `${object}\n`);
      const blob = /^blob (\d+)\n$/.exec(size.stdout.toString('latin1'));
      if (!blob) return null;
      if (Number(blob[1]) > MAX_SHOWN_BYTES)
        throw new Refusal('bad-manifest', `${path} of ${head} has ${blob[1]} bytes, over the limit of ${MAX_SHOWN_BYTES}`, 'make the file smaller');
      const shown = await git(repository, ['cat-file', 'blob', object]);
      if (shown.status !== 0) throw new Error(`git cat-file ${object} failed: ${shown.stderr}`);
      return shown.stdout;
    },

    async describe(head) {
      if ((await have([head])).length === 0) throw unknownHead(head);
      const shown = await git(repository, ['show', '--no-patch', '--no-show-signature', '--format=%T%n%s', head, '--']);
      const [tree, subject] = shown.stdout.toString('utf8').split('\n');
      if (shown.status !== 0 || tree === undefined || subject === undefined) throw new Error(`git show ${head} failed: ${shown.stderr}`);
      return { tree, subject: subject.slice(0, 200) };
    },
  };
}

function unknownHead(head: string): Refusal {
  return new Refusal('unknown-head', `head ${head} is not here`, 'send it with: fleet submit --heads …, run in the repository that has it');
}

/** Counts while streaming: a chunked body announces no length. */
async function* limited(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let byteLength = 0;
  for await (const chunk of stream) {
    byteLength += chunk.length;
    if (byteLength > MAX_BUNDLE_BYTES)
      throw new Refusal('too-large', `the bundle is over ${MAX_BUNDLE_BYTES} bytes`, 'send fewer heads, or commit fewer large files');
    yield chunk;
  }
}

function firstFatal(stderr: string): string {
  const lines = stderr.split('\n');
  return (lines.find((line) => /^(error|fatal):/.test(line)) ?? lines[0] ?? '').slice(0, 300);
}
