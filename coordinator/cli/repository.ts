/** The submitter's git repository: heads resolved to commits, and a bundle of what the coordinator lacks. Nothing in it is changed. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Arm } from '../core/arms.ts';
import type { ArmRequest } from '../protocol/run.ts';
import { FLEET_EXIT } from '../protocol/errors.ts';
import { CliError } from './cli-error.ts';

export interface Repository {
  /** What messages call it: the top of the working tree, or the git directory of a bare repository. */
  readonly name: string;
  readonly directory: string;
}

/**
 * Opens the repository that holds a directory.
 * @throws CliError (exit 2) where there is none, (exit 5) without git.
 */
export function openRepository(directory: string): Repository {
  const bare = git(directory, ['rev-parse', '--absolute-git-dir']);
  if (bare.status !== 0)
    throw new CliError(`${directory} is not in a git repository (${lastLine(bare.stderr)})`, 'run fleet inside the repository, or add --repo DIR');
  const top = git(directory, ['rev-parse', '--show-toplevel']);
  return { name: (top.status === 0 ? top.stdout : bare.stdout).trim(), directory };
}

/**
 * Resolves arms to commits that carry a `fleet.json`.
 * @throws CliError (exit 2) naming the first head that is no commit, or has no manifest.
 */
export function resolveArms(repository: Repository, arms: readonly Arm[]): ArmRequest[] {
  return arms.map((arm) => {
    const found = git(repository.directory, ['rev-parse', '--verify', '--quiet', `${arm.ref}^{commit}`]);
    const head = found.stdout.trim();
    if (found.status !== 0 || !/^[0-9a-f]{40}$/.test(head)) {
      throw new CliError(`head '${arm.ref}' is not a commit in ${repository.name}`, 'git branch -a');
    }
    if (git(repository.directory, ['cat-file', '-e', `${head}:fleet.json`]).status !== 0) {
      throw new CliError(
        `head '${arm.ref}' (${head.slice(0, 10)}) of ${repository.name} has no fleet.json, which names the suites to run`,
        'commit a fleet.json there (coordinator/protocol/manifest.ts describes it)',
      );
    }
    return { label: arm.label, head, settings: { ...arm.settings } };
  });
}

/** The heads and their nearest ancestors, at most `limit`, newest first. */
export function recentCommits(repository: Repository, heads: readonly string[], limit: number): string[] {
  const log = git(repository.directory, ['rev-list', `--max-count=${limit - heads.length}`, ...heads, '--']);
  if (log.status !== 0)
    throw new CliError(`git rev-list failed in ${repository.name}: ${lastLine(log.stderr)}`, `git -C ${repository.name} fsck`, FLEET_EXIT.infrastructure);
  return [...new Set([...heads, ...log.stdout.split('\n').filter(Boolean)])];
}

/** The commit that is checked out; empty where there is none. */
export function checkedOut(repository: Repository): string {
  return git(repository.directory, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']).stdout.trim();
}

/** What a commit's files are, whatever its history. @param head a resolved commit. */
export function treeOf(repository: Repository, head: string): string {
  return git(repository.directory, ['rev-parse', '--verify', '--quiet', `${head}^{tree}`]).stdout.trim();
}

/** How many files differ from the checked-out commit: edits that a run of HEAD does not measure. */
export function uncommittedFiles(repository: Repository): number {
  return git(repository.directory, ['status', '--porcelain']).stdout.split('\n').filter(Boolean).length;
}

/**
 * Writes a bundle of `heads` without what `present` reaches.
 *
 * A bundle needs refs, and a commit that was never pushed may have none. They are made in an empty repository under `scratch`
 * that borrows the objects, so that nothing is written to the submitter's own.
 * @returns the file, or null when there is nothing left to send.
 * @throws CliError (exit 2) for a shallow clone that ends too early, (exit 5) when git fails.
 */
export function writeBundle(repository: Repository, heads: readonly string[], present: readonly string[], scratch: string): string | null {
  const must = (result: GitResult): GitResult => {
    if (result.status === 0) return result;
    throw new CliError(`git could not bundle ${repository.name}: ${lastLine(result.stderr)}`, `git -C ${repository.name} fsck`, FLEET_EXIT.infrastructure);
  };
  const where = (name: string): string => path.resolve(repository.directory, must(git(repository.directory, ['rev-parse', '--git-path', name])).stdout.trim());
  const borrowed = path.join(scratch, 'borrowed.git');
  must(git(scratch, ['init', '--quiet', '--bare', '--template=', borrowed]));
  mkdirSync(path.join(borrowed, 'objects/info'), { recursive: true });
  writeFileSync(path.join(borrowed, 'objects/info/alternates'), `${where('objects')}\n`);
  const shallow = where('shallow');
  if (existsSync(shallow)) {
    // A bundle cannot say that history ends early, so a commit whose parents this clone lacks cannot be sent.
    const cut = new Set(readFileSync(shallow, 'utf8').split('\n').filter(Boolean));
    const toSend = must(git(repository.directory, ['rev-list', '--stdin'], `${[...heads, ...present.map((commit) => `^${commit}`)].join('\n')}\n`)).stdout;
    if (toSend.split('\n').some((commit) => cut.has(commit))) {
      throw new CliError(
        `${repository.name} is a shallow clone, and what the coordinator lacks reaches back past its end`,
        `git -C ${repository.name} fetch --unshallow`,
      );
    }
    writeFileSync(path.join(borrowed, 'shallow'), readFileSync(shallow));
  }

  const refs = heads.map((head, index) => {
    const ref = `refs/heads/fleet-${index}`;
    must(git(borrowed, ['update-ref', ref, head]));
    return ref;
  });
  const file = path.join(scratch, 'heads.bundle');
  const wanted = [...refs, ...present.map((commit) => `^${commit}`)].join('\n');
  const made = git(borrowed, ['bundle', 'create', '--quiet', file, '--stdin'], `${wanted}\n`);
  if (made.status !== 0 && /empty bundle/i.test(made.stderr)) return null;
  must(made);
  return file;
}

interface GitResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs git in a directory. Variables that would point it elsewhere (as inside a hook) are dropped. */
export function git(directory: string, args: readonly string[], input = '', variables: Readonly<Record<string, string>> = {}): GitResult {
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_INDEX_FILE: _index, ...env } = process.env;
  const done = spawnSync('git', args, { cwd: directory, env: { ...env, LC_ALL: 'C', ...variables }, input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (done.error && 'code' in done.error && done.error.code === 'ENOENT') {
    if (!existsSync(directory)) throw new CliError(`${directory} is not there`, 'give an existing directory');
    throw new CliError('git is not installed', 'install git', FLEET_EXIT.infrastructure, { cause: done.error });
  }
  return { status: done.status, stdout: done.stdout ?? '', stderr: done.stderr ?? '' };
}

/** The last line of what a command said. */
export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
