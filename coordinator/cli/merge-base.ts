/** The merge base of a run's heads, which tells whether a failure of both was there before either. */
import type { ArmRequest, SubmitRequest } from '../protocol/run.ts';
import { CliError } from './cli-error.ts';
import { git, treeOf, type Repository } from './repository.ts';

/**
 * The arms with the merge base of all their heads: as a last arm, or none where the baseline has its files.
 * @param arms resolved. @throws CliError (exit 2) for heads without a common commit, or a merge base that fleet cannot run.
 */
export function withMergeBase(repository: Repository, arms: readonly ArmRequest[]): Pick<SubmitRequest, 'arms' | 'mergeBase'> {
  const heads = [...new Set(arms.map((arm) => arm.head))];
  // Of one head it is the head itself; `--octopus` gives one commit that all heads reach.
  const base = git(repository.directory, ['merge-base', '--octopus', ...heads]).stdout.trim();
  const labels = [...new Set(arms.map((arm) => arm.label))].join('+');
  if (!/^[0-9a-f]{40}$/.test(base))
    throw new CliError(`the heads ${labels} have no commit in common in ${repository.name}`, 'fetch their whole history, or submit without --with-merge-base');
  if (treeOf(repository, base) === treeOf(repository, arms[0]!.head)) return { arms: [...arms], mergeBase: 0 };
  if (git(repository.directory, ['cat-file', '-e', `${base}:fleet.json`]).status !== 0)
    throw new CliError(`the merge base ${base.slice(0, 12)} of ${labels} has no fleet.json`, 'submit without --with-merge-base');
  return { arms: [...arms, { label: `merge-base(${base.slice(0, 12)})`, head: base, settings: {} }], mergeBase: arms.length };
}
