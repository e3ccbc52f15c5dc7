import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readMesaVersion, type DriverFolders } from './mesa-version.ts';

let folder: string;
let folders: DriverFolders;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-mesa-'));
  folders = { manifests: [join(folder, 'icd.d'), join(folder, 'none')], libraries: [join(folder, 'lib')] };
  for (const path of ['icd.d', 'lib', 'own']) mkdirSync(join(folder, path));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const MESA = { driver: 'Intel open-source Mesa driver: Mesa 25.0.7-2 (git-1234)', driverFiles: null };
function driver(name: string, text: string, library = `libvulkan_${name}.so`, where = 'lib'): void {
  writeFileSync(join(folder, 'icd.d', `${name}.json`), JSON.stringify({ ICD: { library_path: library, api_version: '1.4.305' } }));
  writeFileSync(join(folder, where, `libvulkan_${name}.so`), `\u007fELF\0${text}\0`);
}

it('is the one version of the installed driver libraries, and follows an upgrade', () => {
  driver('intel', 'Mesa 25.0.7-2~bp$');
  driver('lvp', 'x\0Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6');
  expect(readMesaVersion(MESA, folders)).toBe('25.0.7');
  driver('intel', 'Mesa 25.1.0');
  driver('lvp', 'the same Mesa 25.1.0');
  expect(readMesaVersion(MESA, folders)).toBe('25.1.0');
});

it('is unknown where the drivers are of two versions, of none, or the adapter is none of Mesa', () => {
  expect(readMesaVersion(MESA, folders)).toBe(null);
  driver('intel', 'Mesa 25.0.7');
  expect(readMesaVersion({ driver: 'NVIDIA 570.86', driverFiles: null }, folders)).toBe(null);
  driver('lvp', 'Mesa 24.3.1');
  expect(readMesaVersion(MESA, folders)).toBe(null);
  // A path that cannot be looked up at all.
  writeFileSync(join(folder, 'icd.d/odd.json'), JSON.stringify({ ICD: { library_path: `/${'x'.repeat(300)}` } }));
  expect(readMesaVersion(MESA, folders)).toBe(null);
  rmSync(join(folder, 'icd.d/odd.json'));
  writeFileSync(join(folder, 'icd.d/lvp.json'), 'no JSON');
  expect(readMesaVersion(MESA, folders)).toBe('25.0.7');
});

it('reads the files that the adapter opens under, and a library beside its manifest', () => {
  driver('lvp', 'Mesa 24.3.1');
  driver('own', 'Mesa 25.2.0', '../own/libvulkan_own.so', 'own');
  expect(readMesaVersion({ ...MESA, driverFiles: join(folder, 'icd.d/own.json') }, folders)).toBe('25.2.0');
});
