import { describe, expect, it } from 'vitest';
import { headEnvironment } from './environment.ts';

describe('headEnvironment', () => {
  const source = {
    PATH: '/bin',
    HOME: '/root',
    REDIS_URL: 'redis://:secret@h',
    FLEET_TOKEN: 'secret',
    NPM_TOKEN: 'secret',
    LD_LIBRARY_PATH: '/l',
    FLEET_DRIVERS: '/d',
    VK_DRIVER_FILES: '/own.json',
  };

  it('passes on nothing but what is named', () => {
    const env = headEnvironment({ home: '/h', tmp: '/t', cache: '/c' }, { driverFiles: '/icd.json' }, source);
    expect(Object.keys(env).toSorted()).toEqual([
      'FLEET_DRIVERS',
      'HOME',
      'LANG',
      'LD_LIBRARY_PATH',
      'LP_NATIVE_VECTOR_WIDTH',
      'PATH',
      'TMPDIR',
      'VK_DRIVER_FILES',
      'XDG_CACHE_HOME',
      'XDG_RUNTIME_DIR',
    ]);
    expect(JSON.stringify(env)).not.toContain('secret');
    expect(env).toMatchObject({ HOME: '/h', TMPDIR: '/t', VK_DRIVER_FILES: '/icd.json' });
  });

  it('tunes a software driver as the agent’s own processes do, so that heads find the adapter under its name', () => {
    const widthOf = (env: NodeJS.ProcessEnv) => headEnvironment({ home: '/h', tmp: '/t' }, null, env)['LP_NATIVE_VECTOR_WIDTH'];
    expect(widthOf(source)).toBe('128');
    expect(widthOf({ ...source, LP_NATIVE_VECTOR_WIDTH: '256' })).toBe('256');
  });

  it('takes the library path that the adapter opens under', () => {
    const env = headEnvironment({ home: '/h', tmp: '/t' }, { driverFiles: '/icd.json', libraryPath: '/l:/loader' }, source);
    expect(env['LD_LIBRARY_PATH']).toBe('/l:/loader');
  });

  it('uses the agent’s own driver files where the adapter names none', () => {
    expect(headEnvironment({ home: '/h', tmp: '/t' }, { driverFiles: null }, source)['VK_DRIVER_FILES']).toBe('/own.json');
    expect(headEnvironment({ home: '/h', tmp: '/t' }, { driverFiles: null }, { PATH: '/bin' })).not.toHaveProperty('VK_DRIVER_FILES');
  });
});
