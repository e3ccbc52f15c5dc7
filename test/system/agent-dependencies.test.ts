/** The store of npm installations, with real npm and real copies; packages are local tarballs, so no registry is asked. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Dependencies, removeTree, type DependencyRequest } from '../../agent/dependencies.ts';
import type { EventName, Log } from '../../agent/events.ts';
import { Cleanup } from './agent-support.ts';

const cleanup = new Cleanup();
let project: string;

/** A project with one dependency from a tarball beside it, whose install script writes a file. */
beforeAll(() => {
  const root = cleanup.folder();
  const source = join(root, 'left');
  mkdirSync(source);
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name: 'left', version: '1.0.0', scripts: { install: 'echo ran >installed.txt' } }));
  writeFileSync(join(source, 'index.js'), 'module.exports = 1;\n');
  project = join(root, 'project');
  mkdirSync(project);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', project, source], { cwd: project });
  const tarball = join(project, 'left-1.0.0.tgz');
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', dependencies: { left: `file:${tarball}` } }));
  execFileSync('npm', ['install', '--package-lock-only', '--silent', '--ignore-scripts', '--offline'], { cwd: project });
});
afterAll(() => cleanup.run());

function logged(): { log: Log; names: EventName[] } {
  const names: EventName[] = [];
  return { log: { event: (name) => names.push(name) }, names };
}

function worktree(): string {
  const folder = cleanup.folder();
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(project, file), join(folder, file));
  return folder;
}

const request = (folder: string, allowScripts: string[] = []): DependencyRequest => ({
  worktree: folder,
  allowScripts,
  marker: 'test-deps/1',
  timeoutMs: 120_000,
});

function store(): string {
  const folder = cleanup.folder();
  cleanup.add(() => removeTree(folder));
  return folder;
}

describe('the dependency store', () => {
  it('installs once for a lock file, read-only, without running scripts, and links worktrees to it', async () => {
    const { log, names } = logged();
    const dependencies = new Dependencies(store(), cleanup.folder(), log);
    const [one, two] = [worktree(), worktree()];
    await dependencies.link(request(one));
    await dependencies.link(request(two));
    await dependencies.link(request(two));
    expect(names).toEqual(['dependencies.installed']);
    expect(readlinkSync(join(one, 'node_modules'))).toBe(readlinkSync(join(two, 'node_modules')));
    const left = realpathSync(join(one, 'node_modules/left'));
    expect(readFileSync(join(left, 'index.js'), 'utf8')).toContain('= 1');
    expect(existsSync(join(left, 'installed.txt'))).toBe(false);
    for (const path of [left, join(left, 'index.js'), join(left, '..')]) expect(statSync(path).mode & 0o222).toBe(0);
  });

  it('runs the scripts of packages on the allow-list, in an entry of their own', async () => {
    const folder = store();
    const dependencies = new Dependencies(folder, cleanup.folder(), logged().log);
    const [plain, allowed] = [worktree(), worktree()];
    await dependencies.link(request(plain));
    await dependencies.link(request(allowed, ['left']));
    expect(existsSync(join(allowed, 'node_modules/left/installed.txt'))).toBe(true);
    expect(existsSync(join(plain, 'node_modules/left/installed.txt'))).toBe(false);
  });

  it('is built by one of two agents that race', async () => {
    const folder = store();
    const both = [logged(), logged()];
    const trees = [worktree(), worktree()];
    await Promise.all(both.map(({ log }, index) => new Dependencies(folder, '/nonexistent', log).link(request(trees[index]!))));
    expect(both.flatMap(({ names }) => names)).toEqual(['dependencies.installed']);
    expect(readdirSync(folder).filter((name) => !name.endsWith('.lock'))).toHaveLength(1);
  });

  it('clears what a killed agent left half-built', async () => {
    const folder = store();
    const dependencies = new Dependencies(folder, '/nonexistent', logged().log);
    const tree = worktree();
    const entry = await dependencies.provide(request(tree));
    const key = entry.slice(folder.length + 1);
    await removeTree(entry);
    mkdirSync(join(folder, `building-${key}-dead/node_modules/left`), { recursive: true });
    await dependencies.provide(request(tree));
    expect(readdirSync(folder).toSorted()).toEqual([key, `${key}.lock`]);
  });

  it('copies the running checkout’s installation when the files are the same, sharing no inode', async () => {
    const checkout = worktree();
    execFileSync('npm', ['ci', '--silent', '--ignore-scripts', '--offline'], { cwd: checkout });
    const { log, names } = logged();
    const tree = worktree();
    await new Dependencies(store(), checkout, log).link(request(tree));
    expect(names).toEqual(['dependencies.seeded']);
    const [theirs, ours] = [statSync(join(checkout, 'node_modules/left/index.js')), statSync(join(tree, 'node_modules/left/index.js'))];
    expect(ours.ino).not.toBe(theirs.ino);
    expect(ours.mode & 0o222).toBe(0);
    expect(theirs.mode & 0o200).toBe(0o200);
  });

  it('does not copy from a checkout whose node_modules is not what its lock file says', async () => {
    const checkout = worktree();
    execFileSync('npm', ['ci', '--silent', '--ignore-scripts', '--offline'], { cwd: checkout });
    const hidden = join(checkout, 'node_modules/.package-lock.json');
    writeFileSync(hidden, readFileSync(hidden, 'utf8').replace('"version": "1.0.0"', '"version": "0.9.0"'));
    const { log, names } = logged();
    await new Dependencies(store(), checkout, log).link(request(worktree()));
    expect(names).toEqual(['dependencies.installed']);
  });

  it('tells a lock file that can never install from trouble that may pass', async () => {
    const dependencies = new Dependencies(store(), '/nonexistent', logged().log);
    const outOfStep = worktree();
    writeFileSync(join(outOfStep, 'package.json'), JSON.stringify({ name: 'project', dependencies: { right: '1.0.0' } }));
    await expect(dependencies.link(request(outOfStep))).rejects.toMatchObject({ class: 'permanent', message: expect.stringContaining('npm ci failed') });
    const without = cleanup.folder();
    await expect(dependencies.link(request(without))).rejects.toMatchObject({ class: 'permanent', message: expect.stringContaining('no package-lock.json') });
    await expect(dependencies.link({ ...request(worktree()), timeoutMs: 1 })).rejects.toMatchObject({
      class: 'transient',
      message: expect.stringContaining('no end within'),
    });
  });

  it('replaces a link that points elsewhere', async () => {
    const tree = worktree();
    const folder = store();
    await new Dependencies(folder, '/nonexistent', logged().log).link(request(tree));
    const other = store();
    await new Dependencies(other, '/nonexistent', logged().log).link(request(tree));
    expect(lstatSync(join(tree, 'node_modules')).isSymbolicLink()).toBe(true);
    expect(readlinkSync(join(tree, 'node_modules')).startsWith(other)).toBe(true);
  });
});
