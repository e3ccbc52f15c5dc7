/** The merge of several heads as one more arm. It is made in a repository that borrows the submitter's objects: nothing there is changed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ArmRequest } from '../protocol/run.ts';
import { CliError } from './cli-error.ts';
import { git, lastLine, resolveArms, type Repository } from './repository.ts';

export interface Merged {
  readonly arm: ArmRequest;
  /** Holds the merge, and borrows everything else. */
  readonly repository: Repository;
}

/**
 * Merges heads in the order given, each into what came before. The commit depends on its parents alone, so that the same heads merge
 * to the same commit on every machine.
 * @param refs two or more. @param scratch an empty folder that outlives the sending of the heads.
 * @throws CliError (exit 2) naming the files in conflict, or a head that is no commit.
 */
export function mergeHeads(repository: Repository, refs: readonly string[], scratch: string): Merged {
  const heads = resolveArms(
    repository,
    refs.map((ref) => ({ label: ref, ref, settings: {} })),
  );
  const borrowed = borrowingRepository(repository, scratch);
  let merged = heads[0]!.head;
  for (const [at, { head }] of heads.entries()) if (at > 0) merged = mergeTwo(borrowed, merged, head, refs.slice(0, at).join(' and '), refs[at]!);
  if (git(borrowed.directory, ['cat-file', '-e', `${merged}:fleet.json`]).status !== 0)
    throw new CliError(`the merge of ${refs.join(' and ')} has no fleet.json`, 'merge heads that both have one');
  return { arm: { label: `merge(${refs.join('+')})`, head: merged, settings: {} }, repository: borrowed };
}

function borrowingRepository(repository: Repository, scratch: string): Repository {
  const directory = path.join(scratch, 'merge.git');
  must(git(scratch, ['init', '--quiet', '--bare', '--template=', directory]));
  const where = (name: string): string => path.resolve(repository.directory, must(git(repository.directory, ['rev-parse', '--git-path', name])).trim());
  mkdirSync(path.join(directory, 'objects/info'), { recursive: true });
  writeFileSync(path.join(directory, 'objects/info/alternates'), `${where('objects')}\n`);
  if (existsSync(where('shallow'))) writeFileSync(path.join(directory, 'shallow'), readFileSync(where('shallow')));
  return { name: repository.name, directory };
}

function mergeTwo(repository: Repository, ours: string, theirs: string, oursName: string, theirsName: string): string {
  const done = git(repository.directory, ['merge-tree', '--write-tree', '--name-only', '--no-messages', ours, theirs]);
  const [tree = '', ...files] = done.stdout.split('\n').filter(Boolean);
  if (done.status === 1)
    throw new CliError(`${oursName} and ${theirsName} do not merge: conflicts in ${files.join(', ')}`, 'merge them by hand and name the result in --heads');
  if (done.status !== 0 || !/^[0-9a-f]{40}$/.test(tree))
    throw new CliError(
      `git cannot merge ${oursName} and ${theirsName}: ${lastLine(done.stderr)}`,
      'use git 2.38 or later, or merge by hand and name the result in --heads',
    );
  const dates = [ours, theirs].map((commit) => Number(must(git(repository.directory, ['show', '--no-patch', '--format=%ct', commit])).trim()));
  const identity = { NAME: 'fleet', EMAIL: 'fleet@localhost', DATE: `@${Math.max(...dates)} +0000` };
  const env = Object.fromEntries(['AUTHOR', 'COMMITTER'].flatMap((role) => Object.entries(identity).map(([name, value]) => [`GIT_${role}_${name}`, value])));
  return must(git(repository.directory, ['commit-tree', tree, '-p', ours, '-p', theirs, '-m', `merge ${oursName} and ${theirsName}`], '', env)).trim();
}

function must(result: ReturnType<typeof git>): string {
  if (result.status === 0) return result.stdout;
  throw new CliError(`git could not merge: ${lastLine(result.stderr)}`, 'merge by hand and name the result in --heads');
}
