/**
 * npm packages, installed once for each lock file and shared by the worktrees of every agent of the host.
 *
 * `deps/KEY/node_modules`, where KEY hashes everything that decides what an installation holds. An entry is built in a folder of
 * its own under a flock(2), made read-only, and renamed into place in one step: an entry that is there is whole. Copies, never hard
 * links: a head that can write to a shared inode would poison every other head (notes/queue.md section 5).
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { headEnvironment } from './environment.ts';
import type { Log } from './events.ts';
import { AttemptFailure } from './failure.ts';
import { startCommand, untilEnd, type CommandResult } from './group-process.ts';
import { tryLock, type HeldLock } from './lock.ts';

const lockFile = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), integrity: z.string().optional(), optional: z.boolean().optional() })),
});

const POLL_MS = 500;
/** What the same lock file can never install, as npm words it. */
const PERMANENT = /\b(EUSAGE|EINTEGRITY|E404|ETARGET|ENOLOCK|EJSONPARSE|EBADENGINE|EBADPLATFORM)\b/;
/** How npm reaches its registry through a proxy or a private certificate; nothing secret is among them but what a proxy URL carries. */
const NETWORK_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'] as const;

export interface DependencyRequest {
  /** The head's worktree; holds package.json and package-lock.json. */
  worktree: string;
  /** Packages whose install scripts may run. */
  allowScripts: readonly string[];
  marker: string;
  timeoutMs: number;
  signal?: AbortSignal;
}

export class Dependencies {
  private readonly store: string;
  private readonly checkout: string;
  private readonly log: Log;
  private npmVersion: string | null = null;

  /**
   * @param store folder shared by the agents of a host.
   * @param checkout root of the running checkout, whose node_modules may seed the store.
   */
  constructor(store: string, checkout: string, log: Log) {
    this.store = store;
    this.checkout = checkout;
    this.log = log;
  }

  /**
   * Makes `worktree/node_modules` a link to the installation that its lock file asks for, installing it first if need be.
   * @throws AttemptFailure permanent when the lock file cannot be installed as it is, transient when it may work later.
   */
  async link(request: DependencyRequest): Promise<void> {
    const target = join(await this.provide(request), 'node_modules');
    const link = join(request.worktree, 'node_modules');
    const there = await lstat(link).catch(() => null);
    if (there?.isSymbolicLink() === true) {
      if ((await readlink(link)) === target) return;
      await rm(link);
    } else if (there !== null) {
      throw new AttemptFailure(
        'permanent',
        'the head has a node_modules of its own in git',
        'remove node_modules from the commit, or prepare.npm from its fleet.json',
      );
    }
    await symlink(target, link);
  }

  /** @returns folder of the finished store entry. */
  async provide(request: DependencyRequest): Promise<string> {
    const key = await this.key(request);
    const entry = join(this.store, key);
    if (existsSync(entry)) return entry;
    await mkdir(this.store, { recursive: true });
    const lock = await lockAsync(join(this.store, `${key}.lock`));
    try {
      if (existsSync(entry)) return entry; // built by another agent while this one waited
      for (const name of await readdir(this.store)) if (name.startsWith(`building-${key}`)) await removeTree(join(this.store, name));
      const building = await mkdtemp(join(this.store, `building-${key}-`));
      for (const file of ['package.json', 'package-lock.json']) await cp(join(request.worktree, file), join(building, file));
      if (await this.seed(building)) this.log.event('dependencies.seeded', { key });
      else {
        await this.install(building, request);
        this.log.event('dependencies.installed', { key });
      }
      await mkdir(join(building, 'node_modules'), { recursive: true }); // a lock file without packages installs none
      await run('chmod', ['-R', 'a-w', join(building, 'node_modules')]);
      await rename(building, entry);
      return entry;
    } finally {
      lock.release();
    }
  }

  /** SHA-256 over the two files, Node, platform, npm and the allow-list. */
  private async key(request: DependencyRequest): Promise<string> {
    const hash = createHash('sha256');
    for (const file of ['package-lock.json', 'package.json']) {
      const bytes = await readFile(join(request.worktree, file)).catch((cause: unknown) => {
        throw new AttemptFailure('permanent', `the head has no ${file}, but its fleet.json asks for npm packages`, `commit ${file}, or remove prepare.npm`, {
          cause,
        });
      });
      hash.update(createHash('sha256').update(bytes).digest());
    }
    this.npmVersion ??= (await run('npm', ['--version'])).stdout.trim();
    hash.update(JSON.stringify([process.version, process.platform, process.arch, this.npmVersion, request.allowScripts.toSorted()]));
    return hash.digest('hex');
  }

  /** Copies the running checkout's own node_modules when it was installed from the very same files. */
  private async seed(building: string): Promise<boolean> {
    const own = join(this.checkout, 'node_modules');
    for (const file of ['package.json', 'package-lock.json']) {
      const [mine, wanted] = await Promise.all([readFile(join(this.checkout, file)).catch(() => null), readFile(join(building, file))]);
      if (mine === null || !mine.equals(wanted)) return false;
    }
    if (!(await isInstalled(this.checkout))) return false;
    // "/.": the checkout's node_modules may itself be a link into a store, as in a worktree.
    const copied = await runQuietly('cp', ['-a', ...(process.platform === 'linux' ? ['--reflink=auto'] : []), `${own}/.`, join(building, 'node_modules')]);
    if (copied.exitCode === 0) {
      await run('chmod', ['-R', 'u+w', join(building, 'node_modules')]);
      return true;
    }
    await removeTree(join(building, 'node_modules'));
    return false;
  }

  private async install(building: string, request: DependencyRequest): Promise<void> {
    const scratch = await mkdtemp(join(tmpdir(), 'fleet-npm-'));
    try {
      const clean = { ...headEnvironment({ home: scratch, tmp: scratch }, null), ...pick(process.env, NETWORK_VARIABLES) };
      // `npm ci --ignore-scripts` runs nobody's code, so it may read the operator's registry settings; install scripts may not.
      const trusted = { ...clean, HOME: process.env['HOME'] ?? scratch };
      // The head's own .npmrc may silence npm, and a failure is judged by npm's words.
      const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=notice'];
      await this.npm(['ci', '--ignore-scripts', ...quiet], building, trusted, request);
      if (request.allowScripts.length > 0)
        await this.npm(['rebuild', '--ignore-scripts=false', ...quiet, '--', ...request.allowScripts], building, clean, request);
    } finally {
      await removeTree(scratch);
    }
  }

  private async npm(args: readonly string[], cwd: string, env: Record<string, string>, request: DependencyRequest): Promise<void> {
    const running = startCommand({ argv: ['npm', ...args], cwd, env, timeoutMs: request.timeoutMs, marker: request.marker });
    const ended = await untilEnd(running, request.signal);
    if (ended.exitCode === 0) return;
    const words = `${ended.stdout}\n${ended.stderr}`.trim();
    const how = ended.spawnError ?? (ended.timedOut ? `no end within ${request.timeoutMs / 1000} s` : `status ${ended.exitCode ?? ended.signal}`);
    const kind = PERMANENT.test(words) || (args[0] === 'rebuild' && !ended.timedOut) ? 'permanent' : 'transient';
    throw new AttemptFailure(kind, `npm ${args[0]} failed (${how}): ${words.slice(-1500)}`, `in a clone of the head: npm ${args.slice(0, 2).join(' ')}`);
  }
}

/**
 * Whether node_modules holds what package-lock.json asks for: npm writes what it installed to node_modules/.package-lock.json.
 * Packages that the lock file marks optional may be missing.
 */
async function isInstalled(root: string): Promise<boolean> {
  type Entry = z.infer<typeof lockFile>['packages'][string];
  const same = (a: Entry, b: Entry | undefined): boolean => a.version === b?.version && a.integrity === b?.integrity;
  try {
    const read = async (file: string): Promise<Record<string, Entry>> => lockFile.parse(JSON.parse(await readFile(join(root, file), 'utf8'))).packages;
    const [wanted, installed] = await Promise.all([read('package-lock.json'), read('node_modules/.package-lock.json')]);
    const complete = Object.entries(wanted).every(
      ([name, entry]) => name === '' || same(entry, installed[name]) || (entry.optional === true && installed[name] === undefined),
    );
    return complete && Object.entries(installed).every(([name, entry]) => same(entry, wanted[name]));
  } catch {
    return false;
  }
}

async function lockAsync(path: string): Promise<HeldLock> {
  for (;;) {
    const held = tryLock(path);
    if (held !== null) return held;
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

/** Removes a folder that may be read-only. */
export async function removeTree(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  await runQuietly('chmod', ['-R', 'u+w', folder]);
  await rm(folder, { recursive: true, force: true });
}

async function runQuietly(program: string, args: readonly string[]): Promise<CommandResult> {
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: process.env['HOME'] ?? tmpdir(), LANG: 'C' };
  return await startCommand({ argv: [program, ...args], cwd: tmpdir(), env, timeoutMs: 600_000, marker: `own/${randomUUID()}` }).result;
}

async function run(program: string, args: readonly string[]): Promise<CommandResult> {
  const ended = await runQuietly(program, args);
  if (ended.exitCode !== 0) {
    throw new AttemptFailure(
      'transient',
      `${program} ${args[0] ?? ''} failed: ${ended.spawnError ?? ended.stderr.slice(-500)}`,
      `see whether ${program} works on that host`,
    );
  }
  return ended;
}

function pick(source: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])));
}
