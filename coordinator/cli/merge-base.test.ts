import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withMergeBase } from './merge-base.ts';
import { git, type Repository } from './repository.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'fleet-merge-base-'));
const repository: Repository = { name: 'repo', directory };
const heads: Record<string, string> = {};

function commit(name: string, file: string, ...from: string[]): void {
  if (from.length > 0) git(directory, ['checkout', '--quiet', '-B', name, ...from]);
  writeFileSync(path.join(directory, file), name);
  git(directory, ['add', '--all']);
  git(directory, ['-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '--quiet', '-m', name]);
  heads[name] = git(directory, ['rev-parse', 'HEAD']).stdout.trim();
}
const arm = (name: string, settings = {}) => ({ label: name, head: heads[name]!, settings });

beforeAll(() => {
  git(directory, ['init', '--quiet', '--initial-branch=root']);
  commit('bare', 'other');
  commit('root', 'fleet.json');
  commit('main', 'a', 'root');
  commit('topic', 'b', 'root');
  commit('next', 'c', 'main');
  git(directory, ['checkout', '--quiet', '-B', 'early', heads['bare']!]);
  commit('early', 'fleet.json');
  git(directory, ['checkout', '--quiet', '--orphan', 'alone']);
  commit('alone', 'fleet.json');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('is a last arm, named by its commit, where the heads have parted', () => {
  const { arms, mergeBase } = withMergeBase(repository, [arm('main'), arm('topic', { qmm: 'vec4' }), arm('next')]);
  expect(mergeBase).toBe(3);
  expect(arms[3]).toEqual({ label: `merge-base(${heads['root']!.slice(0, 12)})`, head: heads['root'], settings: {} });
});
it('is the baseline itself where the candidate goes on from it, and where settings are all that differs', () => {
  expect(withMergeBase(repository, [arm('main'), arm('next')])).toEqual({ arms: [arm('main'), arm('next')], mergeBase: 0 });
  expect(withMergeBase(repository, [arm('main'), arm('main', { qmm: 'vec4' })])).toMatchObject({ mergeBase: 0 });
});
it('refuses heads that share no commit, and a merge base without fleet.json', () => {
  expect(() => withMergeBase(repository, [arm('main'), arm('alone')])).toThrow(/^the heads main\+alone have no commit in common in repo/);
  expect(() => withMergeBase(repository, [arm('main'), arm('early')])).toThrow(/^the merge base [0-9a-f]{12} of main\+early has no fleet\.json/);
});
