/** Drives the set-up script as a process of its own, with the machine's pieces taken away one by one. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
let folder: string;
let bin: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'fleet-setup-'));
  bin = path.join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, path.join(bin, 'node'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a checkout's set-up. Drivers go to the test's own folder, and Redis counts as present unless `env` says otherwise. */
function setup(root: string, env: Record<string, string> = {}): { status: number | null; stdout: string; stderr: string } {
  const { npm_execpath: _npm, REDIS_URL: _redis, ...inherited } = process.env;
  const done = spawnSync(process.execPath, [path.join(root, 'coordinator/cli/setup.mjs')], {
    encoding: 'utf8',
    env: { ...inherited, FLEET_DRIVERS: path.join(folder, 'drivers'), REDIS_URL: 'redis://127.0.0.1:1', ...env },
  });
  return { status: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** A small checkout: the set-up script, and one dependency that npm can install without a network. */
function smallCheckout(): string {
  const root = path.join(folder, 'checkout');
  mkdirSync(path.join(root, 'coordinator/cli'), { recursive: true });
  cpSync(path.join(ROOT, 'coordinator/cli/setup.mjs'), path.join(root, 'coordinator/cli/setup.mjs'));
  cpSync(path.join(ROOT, 'coordinator/cli/setup'), path.join(root, 'coordinator/cli/setup'), { recursive: true });
  mkdirSync(path.join(root, 'piece'));
  writeFileSync(path.join(root, 'piece/package.json'), JSON.stringify({ name: 'piece', version: '1.0.0' }));
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ name: 'small', version: '1.0.0', dependencies: { piece: 'file:piece' } }));
  writeLock(root, '1.0.0');
  return root;
}
function writeLock(root: string, version: string): void {
  const packages = {
    '': { name: 'small', version, dependencies: { piece: 'file:piece' } },
    'node_modules/piece': { resolved: 'piece', link: true },
    piece: { version: '1.0.0' },
  };
  writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ name: 'small', version, lockfileVersion: 3, requires: true, packages }));
}

describe('dependencies', () => {
  test('npm ci runs when node_modules is missing, is silent when it is right, and runs again for another Node', () => {
    const root = smallCheckout();
    const first = setup(root);
    expect(first).toMatchObject({ status: 0, stdout: '' });
    expect(first.stderr).toContain('setup: npm ci (node_modules is not there)');
    expect(existsSync(path.join(root, 'node_modules/piece/package.json'))).toBe(true);
    expect(setup(root)).toEqual({ status: 0, stdout: '', stderr: '' });

    const stamp = path.join(root, 'node_modules/.fleet-setup.json');
    writeFileSync(stamp, readFileSync(stamp, 'utf8').replace(/"abi":"\d+"/, '"abi":"1"'));
    expect(setup(root).stderr).toContain('native modules were built for another Node, ABI 1');
  });

  test('a tree that npm ci did not finish, or that misses a package, is installed again', () => {
    const root = smallCheckout();
    setup(root);
    rmSync(path.join(root, 'node_modules/.fleet-setup.json'));
    expect(setup(root)).toEqual({ status: 0, stdout: '', stderr: '' }); // somebody's own `npm ci` is as good
    const hidden = path.join(root, 'node_modules/.package-lock.json');
    writeFileSync(hidden, JSON.stringify({ packages: {} }));
    expect(setup(root).stderr).toMatch(/setup: npm ci \(.*piece is not installed\)/);
    rmSync(hidden);
    rmSync(path.join(root, 'node_modules/.fleet-setup.json'));
    expect(setup(root).stderr).toContain('setup: npm ci (node_modules is not there)');
  });

  test('a failing npm ci stops with one last line and status 5', () => {
    const root = smallCheckout();
    writeFileSync(
      path.join(root, 'package.json'),
      JSON.stringify({ name: 'small', version: '1.0.0', dependencies: { piece: 'file:piece', other: 'file:other' } }),
    );
    const { status, stderr } = setup(root);
    expect(status).toBe(5);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^setup: npm ci failed \(exit 1\), its reason is above\. next: \(cd .* && npm ci\)$/);
  });
});

describe('Redis', () => {
  test('without redis-server and without apt-get, one line names the command for apt, dnf and brew', () => {
    const { status, stdout, stderr } = setup(ROOT, { PATH: bin, REDIS_URL: '' });
    expect({ status, stdout }).toEqual({ status: 5, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(
      /^setup: redis-server is not installed.* next: .*sudo apt-get install -y redis-server.*sudo dnf install -y redis.*brew install redis/,
    );
  });

  test('a redis-server on the PATH is enough', () => {
    symlinkSync(process.execPath, path.join(bin, 'redis-server'));
    expect(setup(smallCheckoutInstalled(), { PATH: bin, REDIS_URL: '' })).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  function smallCheckoutInstalled(): string {
    const root = smallCheckout();
    setup(root);
    return root;
  }
});

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('SwiftShader', () => {
  const FILES = ['.unpacked-by-fleet', 'libvk_swiftshader.so', 'libvulkan.so.1', 'vk_swiftshader_icd.json'];

  test('is unpacked whole once, then left alone', () => {
    const target = path.join(folder, 'drivers/swiftshader');
    const first = setup(ROOT);
    expect(first).toMatchObject({ status: 0, stdout: '', stderr: `setup: unpacking SwiftShader to ${target}\n` });
    expect(readdirSync(target).toSorted()).toEqual(FILES);
    expect(readdirSync(path.dirname(target))).toEqual(['swiftshader']); // no half-made folder is left
    for (const library of ['libvk_swiftshader.so', 'libvulkan.so.1']) {
      const bytes = readFileSync(path.join(target, library));
      expect(bytes.subarray(0, 4).toString('latin1')).toBe('\u007fELF');
      // The section header table ends an ELF file, so a cut copy is shorter than its header says.
      expect(bytes.length).toBeGreaterThanOrEqual(Number(bytes.readBigUInt64LE(40)) + bytes.readUInt16LE(58) * bytes.readUInt16LE(60));
    }
    const icd: unknown = JSON.parse(readFileSync(path.join(target, 'vk_swiftshader_icd.json'), 'utf8'));
    expect(icd).toMatchObject({ ICD: { library_path: './libvk_swiftshader.so' } });

    const made = statSync(path.join(target, 'libvulkan.so.1')).mtimeMs;
    expect(setup(ROOT)).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(statSync(path.join(target, 'libvulkan.so.1')).mtimeMs).toBe(made);
  });

  test('is unpacked anew when a file is gone or the package was renewed', () => {
    const target = path.join(folder, 'drivers/swiftshader');
    setup(ROOT);
    rmSync(path.join(target, 'libvulkan.so.1'));
    setup(ROOT);
    expect(readdirSync(target).toSorted()).toEqual(FILES);
    writeFileSync(path.join(target, '.unpacked-by-fleet'), '@sparticuz/chromium 1.0.0\n');
    expect(setup(ROOT).stderr).toContain('unpacking SwiftShader');
    expect(readFileSync(path.join(target, '.unpacked-by-fleet'), 'utf8')).not.toContain(' 1.0.0');
  });

  test('a folder that fleet did not make is never written to', () => {
    const target = path.join(folder, 'drivers/swiftshader');
    mkdirSync(target, { recursive: true });
    writeFileSync(path.join(target, 'mine.txt'), 'mine');
    const { status, stderr } = setup(ROOT);
    expect(status).toBe(5);
    expect(stderr).toMatch(/fleet did not make it.* next: move it away, or set FLEET_DRIVERS/);
    expect(readdirSync(target)).toEqual(['mine.txt']);
  });
});
