import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readManifest, readPinnedIds } from './manifest.ts';
import { openHeads, type Heads } from './repository.ts';

let root: string;
let heads: Heads;
let source: string;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'fleet-heads-'));
  mkdirSync(join(root, 'tmp'));
  source = join(root, 'source');
  mkdirSync(source);
  heads = await openHeads(join(root, 'heads.git'), join(root, 'tmp'));
  git('init', '--quiet', '--initial-branch=main');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(...args: string[]): string {
  return gitBytes(args).toString('utf8').trim();
}
function gitBytes(args: string[], input?: Buffer): Buffer {
  return execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@example.org', ...args], { cwd: source, stdio: ['pipe', 'pipe', 'pipe'], input });
}
function commit(name: string, text: string): string {
  writeFileSync(join(source, name), text);
  git('add', '--all');
  git('commit', '--quiet', '--message', `write ${name}`);
  return git('rev-parse', 'HEAD');
}
const bundle = (...args: string[]): Buffer => gitBytes(['bundle', 'create', '--quiet', '-', ...args]);
async function* chunks(bytes: Buffer, size = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
/** What is left behind of a refused bundle. */
const leftovers = (): string[] => [...readdirSync(join(root, 'tmp')), ...readdirSync(join(root, 'heads.git', 'objects', 'pack'))];

it('takes a bundle, then a thin one that builds on it, and describes both heads', async () => {
  const first = commit('a', 'x'.repeat(5000));
  await heads.ingest(chunks(bundle('main')), [first]);
  const second = commit('a', `${'x'.repeat(5000)}y`);
  const thin = bundle('main', '--not', first);
  expect(thin.length).toBeLessThan(2000);
  expect(await heads.have([first, second])).toEqual([first]);
  await heads.ingest(chunks(thin), [second]);
  expect(await heads.have([first, second, '0'.repeat(40)])).toEqual([first, second]);
  expect(await heads.describe(second)).toEqual({ tree: git('rev-parse', 'HEAD^{tree}'), subject: 'write a' });
  await expect(heads.describe('0'.repeat(40))).rejects.toMatchObject({ code: 'unknown-head' });
});

it('gives a bundle of what the receiver lacks, which git reads, and none when it lacks nothing', async () => {
  const first = commit('a', 'one');
  const second = commit('a', 'two');
  await heads.ingest(chunks(bundle('main')), [second]);
  const path = await heads.bundle(second, [first, '0'.repeat(40)]);
  expect(readFileSync(path!).toString('latin1')).toContain(`-${first}`);
  expect(git('bundle', 'verify', path!)).toContain(second);
  expect(await heads.bundle(second, [second])).toBeNull();
});

it('refuses what is no bundle, is cut short, or builds on an absent commit, and keeps nothing of it', async () => {
  const first = commit('a', 'one');
  const whole = bundle('main');
  await expect(heads.ingest(chunks(Buffer.from('hello, this is no bundle at all')), [first])).rejects.toMatchObject({
    code: 'bad-request',
    message: expect.stringContaining('# v2 git bundle'),
  });
  await expect(heads.ingest(chunks(whole.subarray(0, 30)), [first])).rejects.toMatchObject({
    code: 'bad-request',
    message: expect.stringContaining('ends within its header'),
  });
  await expect(heads.ingest(chunks(whole.subarray(0, -30)), [first])).rejects.toMatchObject({
    code: 'bad-request',
    message: expect.stringContaining('git refuses the bundle'),
  });
  const second = commit('a', 'two');
  await expect(heads.ingest(chunks(bundle('main', '--not', first)), [second])).rejects.toMatchObject({
    code: 'unknown-head',
    message: expect.stringContaining(first),
  });
  expect(leftovers()).toEqual([]);
});

it('refuses a bundle without the head, and does not lose the objects that were here before', async () => {
  const first = commit('a', 'one');
  await heads.ingest(chunks(bundle('main')), [first]);
  await expect(heads.ingest(chunks(bundle('main')), ['1'.repeat(40)])).rejects.toMatchObject({ code: 'unknown-head' });
  expect((await heads.show(first, 'a'))?.toString()).toBe('one');
});

it('refuses a tree that would write into .git', async () => {
  commit('a', 'one');
  const hook = gitBytes(['hash-object', '-w', '--stdin'], Buffer.from('#!/bin/sh\n')).toString().trim();
  const entry = (mode: string, name: string, sha: string): Buffer => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, 'hex')]);
  const write = (bytes: Buffer): string => gitBytes(['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], bytes).toString().trim();
  const tree = write(entry('40000', '.git', write(entry('100755', 'post-checkout', hook))));
  const bad = git('commit-tree', tree, '-m', 'bad');
  git('update-ref', 'refs/heads/bad', bad);
  await expect(heads.ingest(chunks(bundle('bad')), [bad])).rejects.toMatchObject({ code: 'bad-request', message: expect.stringContaining('git refuses') });
  expect(await heads.have([bad])).toEqual([]);
  expect(leftovers()).toEqual([]);
});

it('refuses a pack that lacks objects, though each object in it is sound', async () => {
  const head = commit('a', 'one');
  const pack = gitBytes(['pack-objects', '--stdout', '--quiet'], Buffer.from(`${head}\n`));
  const forged = Buffer.concat([Buffer.from(`# v2 git bundle\n${head} refs/heads/main\n\n`), pack]);
  expect(createHash('sha1').update(pack.subarray(0, -20)).digest('hex')).toBe(pack.subarray(-20).toString('hex'));
  await expect(heads.ingest(chunks(forged), [head])).rejects.toMatchObject({ code: 'bad-request' });
  expect(await heads.have([head])).toEqual([]);
  expect(leftovers()).toEqual([]);
});

it('reads manifests and pinned ids without a checkout', async () => {
  const manifest = { schema: 1, suites: { decode: { kind: 'decode', command: ['fleet'], cases: [{ name: 'story', pinned: 'ids.json' }] } } };
  commit('ids.json', '{"ids": [1, 2, 3], "text": "x"}');
  commit('plain.json', '[4]');
  commit('words.json', '["four"]');
  const head = commit('fleet.json', JSON.stringify(manifest));
  await heads.ingest(chunks(bundle('main')), [head]);
  expect(await readManifest(heads, head)).toMatchObject({
    prepare: { timeoutS: 1800 },
    suites: { decode: { timed: false, timeoutS: 600, cases: [{ name: 'story', args: [] }] } },
  });
  expect(await readPinnedIds(heads, head, 'ids.json')).toEqual([1, 2, 3]);
  expect(await readPinnedIds(heads, head, 'plain.json')).toEqual([4]);
  await expect(readPinnedIds(heads, head, 'words.json')).rejects.toMatchObject({ code: 'bad-manifest', message: expect.stringContaining('words.json') });
});
