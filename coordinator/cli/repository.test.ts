/** Real git repositories in a temporary folder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseArms } from '../core/arms.ts';
import { openRepository, recentCommits, resolveArms, uncommittedFiles, writeBundle } from './repository.ts';

let folder: string;
let work: string;

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

const commit = (text: string, file = 'fleet.json'): string => {
  writeFileSync(path.join(work, file), text);
  git(work, 'add', '.');
  git(work, 'commit', '-q', '-m', text);
  return git(work, 'rev-parse', 'HEAD');
};

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'fleet-repository-'));
  work = path.join(folder, 'work');
  mkdirSync(work);
  git(work, 'init', '-q', '-b', 'main');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('arms resolve to commits; labels stay as typed', () => {
  const first = commit('1');
  const second = commit('2');
  expect(resolveArms(openRepository(work), parseArms('HEAD~1[a=x,b=y],main'))).toEqual([
    { label: 'HEAD~1[a=x,b=y]', head: first, settings: { a: 'x', b: 'y' } },
    { label: 'main', head: second, settings: {} },
  ]);
});

test('a head that is no commit, and one without fleet.json, are named', () => {
  const bare = commit('no manifest', 'other.txt');
  commit('{}');
  const repository = openRepository(work);
  expect(() => resolveArms(repository, parseArms('main,nope'))).toThrow(`head 'nope' is not a commit in ${work}`);
  expect(() => resolveArms(repository, parseArms('main,HEAD:fleet.json'))).toThrow(`head 'HEAD:fleet.json' is not a commit`);
  expect(() => resolveArms(repository, parseArms('HEAD~1,main'))).toThrow(`head 'HEAD~1' (${bare.slice(0, 10)}) of ${work} has no fleet.json`);
  expect(() => openRepository(folder)).toThrow(`${folder} is not in a git repository`);
});

test('a bundle holds what the receiver lacks, from a commit no branch names, and leaves the repository as it was', () => {
  const first = commit('1');
  const second = commit('2');
  git(work, 'reset', '-q', '--hard', first); // `second` now hangs in the air, as an amended commit does
  const before = git(work, 'for-each-ref');
  const scratch = path.join(folder, 'scratch');
  mkdirSync(scratch);
  const bundle = writeBundle(openRepository(work), [second], [first], scratch);
  expect(bundle).not.toBeNull();
  expect(git(work, 'bundle', 'list-heads', bundle!)).toBe(`${second} refs/heads/fleet-0`);
  expect(git(work, 'for-each-ref')).toBe(before);
  // The receiver has `first` only: the bundle's prerequisite is met there, and its head arrives whole.
  const receiver = path.join(folder, 'receiver.git');
  git(folder, 'clone', '-q', '--bare', work, receiver);
  git(receiver, 'fetch', '-q', bundle!, 'refs/heads/fleet-0:refs/heads/got');
  expect(git(receiver, 'show', 'got:fleet.json')).toBe('2');
});

test('a shallow clone is refused where its history ends too early, and serves where it does not', () => {
  commit('1');
  const second = commit('2');
  const clone = path.join(folder, 'shallow');
  git(folder, 'clone', '-q', '--depth', '1', `file://${work}`, clone);
  work = clone;
  const third = commit('3');
  const scratch = path.join(folder, 'scratch');
  mkdirSync(scratch);
  expect(() => writeBundle(openRepository(clone), [third], [], scratch)).toThrow(/is a shallow clone/);
  expect(writeBundle(openRepository(clone), [third], [second], mkdtempSync(path.join(folder, 's-')))).not.toBeNull();
});

test('nothing new makes no bundle', () => {
  const first = commit('1');
  const scratch = path.join(folder, 'scratch');
  mkdirSync(scratch);
  expect(writeBundle(openRepository(work), [first], [first], scratch)).toBeNull();
});

test('heads come first among the recent commits, each once, within the limit', () => {
  const [a, b, c] = [commit('1'), commit('2'), commit('3')];
  expect(recentCommits(openRepository(work), [c, a], 100)).toEqual([c, a, b]);
  expect(recentCommits(openRepository(work), [c], 2)).toEqual([c]);
});

test('uncommitted files are counted', () => {
  commit('1');
  const repository = openRepository(work);
  expect(uncommittedFiles(repository)).toBe(0);
  writeFileSync(path.join(work, 'fleet.json'), 'edited');
  writeFileSync(path.join(work, 'new.txt'), '');
  expect(uncommittedFiles(repository)).toBe(2);
});
