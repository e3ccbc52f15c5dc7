import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { driverEnvironments, driversFolder, singleDriverEnvironments, unpackedSoftwareDriver } from './driver-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'drivers-'));
afterAll(() => rmSync(folder, { recursive: true }));
const manifest = join(folder, 'swiftshader', 'vk_swiftshader_icd.json');
mkdirSync(join(folder, 'swiftshader'));
writeFileSync(manifest, '{}');
writeFileSync(join(folder, 'swiftshader', 'libvulkan.so.1'), '');

describe('driversFolder', () => {
  it('takes FLEET_DRIVERS, then the cache folder', () => {
    expect(driversFolder({ FLEET_DRIVERS: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
    expect(driversFolder({ XDG_CACHE_HOME: '/b' })).toBe('/b/fleet/drivers');
  });
});

describe('unpackedSoftwareDriver', () => {
  it('names the manifest, and nothing where nothing is unpacked', () => {
    expect(unpackedSoftwareDriver({ FLEET_DRIVERS: folder })).toMatchObject({ driverFiles: manifest, env: { VK_DRIVER_FILES: manifest } });
    expect(unpackedSoftwareDriver({ FLEET_DRIVERS: join(folder, 'absent') })).toBeUndefined();
  });

  it('leaves a loader that is there in place', () => {
    const env = unpackedSoftwareDriver({ FLEET_DRIVERS: folder, LD_LIBRARY_PATH: join(folder, 'swiftshader') })!.env;
    expect(env).not.toHaveProperty('LD_LIBRARY_PATH');
  });
});

describe.runIf(process.platform === 'linux')('environments', () => {
  it('tries the present one first, then the loader’s default, then the unpacked driver, without repeats', () => {
    expect(driverEnvironments({ FLEET_DRIVERS: folder }).map(({ driverFiles }) => driverFiles)).toEqual([null, manifest]);
    expect(driverEnvironments({ FLEET_DRIVERS: folder, VK_DRIVER_FILES: '/x.json' }).map(({ driverFiles }) => driverFiles)).toEqual([
      '/x.json',
      null,
      manifest,
    ]);
    const withLoader = { FLEET_DRIVERS: folder, VK_DRIVER_FILES: manifest, LD_LIBRARY_PATH: join(folder, 'swiftshader') };
    expect(driverEnvironments(withLoader).map(({ driverFiles }) => driverFiles)).toEqual([manifest, null]);
  });

  it('lists installed manifests once each', () => {
    const icds = join(folder, 'data', 'vulkan', 'icd.d');
    mkdirSync(icds, { recursive: true });
    for (const file of ['b.json', 'a.json', 'readme.txt']) writeFileSync(join(icds, file), '{}');
    const found = singleDriverEnvironments({ XDG_DATA_HOME: join(folder, 'data'), XDG_DATA_DIRS: join(folder, 'data') }).map(({ driverFiles }) => driverFiles);
    expect(found.filter((file) => file?.startsWith(folder))).toEqual([join(icds, 'a.json'), join(icds, 'b.json')]);
  });
});
