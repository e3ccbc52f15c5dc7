import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { plant, plantedFile } from './plant.ts';
import { kernelNames, loadKernel, loadRegistry } from './registry.ts';

describe('the shipped folders', () => {
  test('all load, sorted, each under its folder’s name', async () => {
    const entries = await loadRegistry();
    expect(entries.map(({ kernel }) => kernel.name)).toEqual(kernelNames());
    expect(kernelNames()).not.toContain('shared');
    expect(entries.find(({ kernel }) => kernel.name === 'qmm-q4')?.contract).toBeDefined();
  });

  test('every control finds its line exactly once in the shipped shader, under a name of its own', async () => {
    for (const { kernel, controls } of await loadRegistry()) {
      for (const control of controls) {
        const file = plantedFile(kernel, control);
        const source = readFileSync(new URL(file, import.meta.url), 'utf8');
        expect(plant(file, source, control)).not.toBe(source);
      }
      expect(new Set(controls.map(({ name }) => name)).size).toBe(controls.length);
    }
  });
});

describe('a folder that is not whole is refused by name', () => {
  let root = '';
  const url = (): URL => pathToFileURL(`${root}/`);
  const file = (ending: string): string => join(root, 'odd-kernel', `odd-kernel${ending}`);
  const write = (ending: string, text: string): void => writeFileSync(file(ending), text);
  const KERNEL = `export const oddKernel = { name: 'odd-kernel', bindings: [], variants: ['only'], launch() {} };`;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'fleet-registry-'));
    mkdirSync(join(root, 'odd-kernel'));
    mkdirSync(join(root, 'shared'));
    write('.wgsl', '');
    write('.ts', KERNEL);
    write('.reference.ts', '');
  });

  afterEach(() => rmSync(root, { recursive: true }));

  test('three files make a kernel without a contract', async () => {
    const [entry] = await loadRegistry(url());
    expect(entry?.kernel.name).toBe('odd-kernel');
    expect(entry?.contract).toBeUndefined();
    expect(entry?.controls).toEqual([]);
  });

  test.each(['.wgsl', '.ts', '.reference.ts'])('without %s', async (ending) => {
    rmSync(file(ending));
    await expect(loadRegistry(url())).rejects.toThrow(`kernels/odd-kernel: odd-kernel${ending} is missing; kernels/README.md`);
  });

  test('with a contract and no control, or a control and no contract', async () => {
    write('.contract.ts', '');
    await expect(loadRegistry(url())).rejects.toThrow('it has a contract but no odd-kernel.control.ts');
    write('.control.ts', '');
    rmSync(file('.contract.ts'));
    await expect(loadRegistry(url())).rejects.toThrow('it has controls but no odd-kernel.contract.ts');
  });

  test('with a wrapper that exports another kernel', async () => {
    write('.ts', KERNEL.replace(`'odd-kernel'`, `'other'`));
    await expect(loadKernel('odd-kernel', url())).rejects.toThrow('odd-kernel.ts exports no Kernel named odd-kernel');
  });

  test('with a contract of another kernel', async () => {
    write('.contract.ts', 'export const contract = { kernel: {} };');
    write('.control.ts', 'export const controls = [{}];');
    await expect(loadKernel('odd-kernel', url())).rejects.toThrow('must export `contract` of this kernel');
  });

  test('with an empty list of controls', async () => {
    write('.contract.ts', `import { oddKernel } from './odd-kernel.ts'; export const contract = { kernel: oddKernel };`);
    write('.control.ts', 'export const controls = [];');
    await expect(loadKernel('odd-kernel', url())).rejects.toThrow('at least one planted fault');
  });
});
