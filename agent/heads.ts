/**
 * The heads of one agent: a bare repository that bundles go into, and a worktree for each head.
 *
 * A worktree counts only once `SHA.ready` stands beside it; one without is the rest of a crash and is made anew. `ready` also
 * carries the state of the tracked files right after preparation, because a head's process can write to its own worktree: a
 * worktree that changed since is thrown away before the next job.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ApiError, untilAnswered, type ApiClient } from './api-client.ts';
import type { Log } from './events.ts';
import { AttemptFailure } from './failure.ts';
import { git, GitError } from './git.ts';

const readyFile = z.object({ preparation: z.string(), tracked: z.string() });

const KEEP_DAYS = 14;
/** Prerequisites named to the coordinator; each is 46 bytes of URL. */
const MAX_HAVE = 64;

export class Heads {
  private readonly repository: string;
  private readonly worktrees: string;
  private readonly api: Pick<ApiClient, 'downloadBundle'>;
  private readonly log: Log;

  /** @param state the agent's own state folder. */
  constructor(state: string, api: Pick<ApiClient, 'downloadBundle'>, log: Log) {
    this.repository = join(state, 'heads.git');
    this.worktrees = join(state, 'worktrees');
    this.api = api;
    this.log = log;
  }

  /**
   * Makes sure that the repository holds a head and everything it reaches.
   * @throws AttemptFailure permanent when the coordinator does not have it or its bundle is broken.
   */
  async fetch(head: string, signal?: AbortSignal): Promise<void> {
    await this.open();
    if (await this.has(head)) return;
    const kept = (await git(this.repository, ['for-each-ref', '--sort=-creatordate', `--count=${MAX_HAVE}`, '--format=%(objectname)', 'refs/fleet/'])).split(
      '\n',
    );
    const bundle = join(this.repository, `incoming-${head}.bundle`);
    try {
      await untilAnswered(
        () =>
          this.api.downloadBundle(
            head,
            kept.filter((commit) => commit !== ''),
            bundle,
          ),
        signal === undefined ? {} : { signal },
      );
      await this.addBundle(head, bundle);
      this.log.event('head.fetched', { head, byteLength: (await stat(bundle)).size });
    } catch (error) {
      if (error instanceof ApiError) throw new AttemptFailure('permanent', `head ${head} cannot be fetched: ${error.message}`, error.next, { cause: error });
      if (error instanceof GitError) {
        throw new AttemptFailure(
          'permanent',
          `git refuses the bundle of head ${head}: ${error.message}`,
          'check the repository it came from: git fsck --strict',
          { cause: error },
        );
      }
      throw error;
    } finally {
      await rm(bundle, { force: true });
    }
  }

  /** Path of a head's worktree, prepared or not. */
  path(head: string): string {
    return join(this.worktrees, head);
  }

  /**
   * Whether a prepared worktree stands unchanged.
   * @param preparation what was prepared (any text); another text means not prepared.
   */
  async isReady(head: string, preparation: string): Promise<boolean> {
    try {
      const ready = readyFile.parse(JSON.parse(await readFile(this.readyFile(head), 'utf8')));
      if (ready.preparation !== preparation || ready.tracked !== (await this.trackedState(head))) return false;
      const now = new Date();
      await utimes(this.readyFile(head), now, now); // removal goes by last use
      return true;
    } catch {
      return false;
    }
  }

  /** Checks a head out into a fresh worktree, whatever stood there. */
  async checkOut(head: string): Promise<string> {
    await this.remove(head);
    await mkdir(this.worktrees, { recursive: true });
    await git(this.repository, ['worktree', 'add', '--force', '--detach', '--quiet', this.path(head), head]);
    this.log.event('head.checked-out', { head });
    return this.path(head);
  }

  /** Declares a worktree prepared. */
  async markReady(head: string, preparation: string): Promise<void> {
    await writeFile(this.readyFile(head), JSON.stringify({ preparation, tracked: await this.trackedState(head) }));
  }

  /** Removes worktrees that no job has used for two weeks. @param keep heads of the job at hand. */
  async removeOld(keep: readonly string[], now: number = Date.now()): Promise<void> {
    if (!existsSync(this.worktrees)) return;
    for (const name of await readdir(this.worktrees)) {
      if (!/^[0-9a-f]{40}$/.test(name) || keep.includes(name)) continue;
      const used = await stat(this.readyFile(name)).catch(() => stat(this.path(name)));
      if (now - used.mtimeMs < KEEP_DAYS * 86_400_000) continue;
      await this.remove(name);
      this.log.event('head.removed', { head: name });
    }
  }

  private readyFile(head: string): string {
    return `${this.path(head)}.ready`;
  }

  private async remove(head: string): Promise<void> {
    await rm(this.readyFile(head), { force: true }); // first: a half-removed worktree must not count
    await rm(this.path(head), { recursive: true, force: true });
    await git(this.repository, ['worktree', 'prune']);
  }

  /** Digest of how tracked files differ from the commit; a clean worktree has that of the empty text. */
  private async trackedState(head: string): Promise<string> {
    // The git directory is named outright: the worktree's own `.git` file is the head's to write, and could name another's settings.
    const here = ['--git-dir', join(this.repository, 'worktrees', head), '--work-tree', this.path(head)];
    if ((await git(this.repository, [...here, 'rev-parse', 'HEAD'])).trim() !== head) return 'another commit';
    const diff = await git(this.path(head), [...here, 'diff', '--no-ext-diff', '--no-textconv', '--binary', 'HEAD']);
    return createHash('sha256').update(diff).digest('hex');
  }

  private async open(): Promise<void> {
    if (existsSync(join(this.repository, 'HEAD'))) return;
    await mkdir(this.repository, { recursive: true });
    await git(this.repository, ['init', '--bare', '--quiet', '--template=', '.']);
  }

  /** Whether the head is kept, or reached by one that is: then nothing is left to fetch, and it is kept from now on. */
  private async has(head: string): Promise<boolean> {
    try {
      const reaching = await git(this.repository, ['for-each-ref', '--count=1', `--contains=${head}`, '--format=%(refname)', 'refs/fleet/']);
      if (reaching === '') return false;
      await git(this.repository, ['update-ref', `refs/fleet/${head}`, head]);
      return true;
    } catch (error) {
      if (error instanceof GitError) return false; // no such commit here
      throw error;
    }
  }

  /** `git fetch FILE.bundle` ignores fsck settings (notes/queue.md section 5), so the pack behind the header goes to index-pack. */
  private async addBundle(head: string, bundle: string): Promise<void> {
    const packStart = await findPack(bundle);
    await git(this.repository, ['index-pack', '--strict', '--fix-thin', '--stdin'], createReadStream(bundle, { start: packStart }));
    await git(this.repository, ['cat-file', '-e', `${head}^{commit}`]);
    await git(this.repository, ['rev-list', '--objects', '--quiet', head, '--not', '--glob=refs/fleet/*']);
    await git(this.repository, ['update-ref', `refs/fleet/${head}`, head]);
  }
}

/** Offset of the pack in a bundle: after the first empty line. */
async function findPack(bundle: string): Promise<number> {
  const handle = await open(bundle, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024 * 1024), 0, 1024 * 1024, 0);
    const header = buffer.subarray(0, bytesRead);
    const end = header.indexOf('\n\n');
    if (!/^# v[23] git bundle\n/.test(header.subarray(0, 20).toString('latin1')) || end < 0) {
      throw new AttemptFailure('permanent', 'the coordinator sent something that is no git bundle', 'submit the heads again');
    }
    return end + 2;
  } finally {
    await handle.close();
  }
}
