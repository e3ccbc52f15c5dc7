/** Real merges of real repositories in a temporary folder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mergeHeads } from './merge.ts';
import { openRepository, writeBundle } from './repository.ts';

let folder: string;
let work: string;

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd: work,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

/** A branch off main that writes one file. */
function branch(name: string, file: string, text: string): string {
  git('checkout', '-q', '-B', name, 'main');
  writeFileSync(path.join(work, file), text);
  git('add', '.');
  git('commit', '-q', '-m', name);
  return git('rev-parse', 'HEAD');
}
const scratch = (name: string): string => {
  const made = path.join(folder, name);
  mkdirSync(made);
  return made;
};

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'fleet-merge-'));
  work = scratch('work');
  git('init', '-q', '-b', 'main');
  writeFileSync(path.join(work, 'fleet.json'), '{}\n');
  git('add', '.');
  git('commit', '-q', '-m', 'base');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('merges heads to a commit that holds what each of them changed, and leaves the repository as it was', () => {
  const heads = [branch('a', 'a.txt', 'one'), branch('b', 'b.txt', 'two'), branch('c', 'c.txt', 'three')];
  const before = [git('for-each-ref'), git('count-objects', '-v')];
  const { arm, repository } = mergeHeads(openRepository(work), ['a', 'b', 'c'], scratch('first'));
  expect(arm).toMatchObject({ label: 'merge(a+b+c)', settings: {} });
  const bundle = writeBundle(repository, [arm.head], [], scratch('bundle'))!;
  expect([git('for-each-ref'), git('count-objects', '-v')]).toEqual(before);

  execFileSync('git', ['clone', '-q', '--branch', 'fleet-0', bundle, path.join(folder, 'clone')], { stdio: 'ignore' });
  const cloned = (...args: string[]): string => execFileSync('git', args, { cwd: path.join(folder, 'clone'), encoding: 'utf8' }).trim();
  expect(cloned('ls-files').split('\n')).toEqual(['a.txt', 'b.txt', 'c.txt', 'fleet.json']);
  for (const head of heads) expect(cloned('merge-base', head, arm.head)).toBe(head);
  // The same heads merge to the same commit anywhere.
  expect(mergeHeads(openRepository(work), ['a', 'b', 'c'], scratch('second')).arm.head).toBe(arm.head);
});

test('a conflict is named by its files', () => {
  branch('a', 'same.txt', 'one');
  branch('b', 'same.txt', 'two');
  expect(() => mergeHeads(openRepository(work), ['a', 'b'], scratch('first'))).toThrow('a and b do not merge: conflicts in same.txt');
  expect(() => mergeHeads(openRepository(work), ['a', 'nope'], scratch('second'))).toThrow("head 'nope' is not a commit");
});
