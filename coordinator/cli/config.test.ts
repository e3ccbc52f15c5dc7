import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fleetToml, readConfig } from './config.ts';
import { clientOf } from './options.ts';

let home: string;
let cwd: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'fleet-config-'));
  cwd = path.join(home, 'work/deep');
  mkdirSync(cwd, { recursive: true });
  env = { HOME: home };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const running = (state: string, pid: number): void => {
  mkdirSync(state, { recursive: true });
  writeFileSync(path.join(state, 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:4001', pid }));
};

describe('where the coordinator is', () => {
  test('without anything: the default address and a state directory under HOME', () => {
    expect(readConfig({}, cwd, env)).toEqual({
      url: { value: 'http://127.0.0.1:7420', from: 'default' },
      state: { value: path.join(home, '.local/state/fleet'), from: 'default' },
    });
  });

  test('each source wins over the next: flag, environment, fleet.toml, server.json', () => {
    const state = path.join(home, 'state');
    const toml = path.join(home, 'work/fleet.toml');
    running(state, process.pid);
    expect(readConfig({ state }, cwd, env).url).toEqual({ value: 'http://127.0.0.1:4001', from: path.join(state, 'server.json') });
    writeFileSync(toml, 'url = "http://box:1/"\nstate = "../state"\n');
    expect(readConfig({}, cwd, env)).toEqual({ url: { value: 'http://box:1', from: toml }, state: { value: state, from: toml } });
    expect(readConfig({}, cwd, { ...env, FLEET_URL: 'https://box:2', FLEET_STATE: '/s' })).toEqual({
      url: { value: 'https://box:2', from: 'FLEET_URL' },
      state: { value: '/s', from: 'FLEET_STATE' },
    });
    expect(readConfig({ url: 'http://box:3', state: 'x' }, cwd, { ...env, FLEET_URL: 'https://box:2', FLEET_STATE: '/s' })).toEqual({
      url: { value: 'http://box:3', from: '--url' },
      state: { value: path.join(cwd, 'x'), from: '--state' },
    });
  });

  test('a server.json whose process is gone is not believed', () => {
    const state = path.join(home, 'state');
    running(state, 0x7ffffff0);
    expect(readConfig({ state }, cwd, env).url.from).toBe('default');
    // Whoever listens at the default address is another fleet.
    expect(() => clientOf({ state })).toThrow(`no coordinator runs in ${state} (--state)`);
    expect(clientOf({ state, url: 'http://box:1' }).url).toBe('http://box:1');
  });

  test.each([
    ['url = ', /fleet\.toml cannot be read/],
    ['url = "ftp://x"', /fleet\.toml: url/],
    ['port = 3', /fleet\.toml: .*port/],
  ])('a fleet.toml that says %j is refused by name', (text, message) => {
    writeFileSync(path.join(cwd, 'fleet.toml'), text);
    expect(() => readConfig({}, cwd, env)).toThrow(message);
  });

  test('an address that is no http address is refused with its source', () => {
    expect(() => readConfig({ url: 'box:7420' }, cwd, env)).toThrow(/'box:7420' \(--url\) is no http or https address/);
  });

  test('the keys of fleet.toml', () => {
    expect(Object.keys(fleetToml.shape)).toMatchInlineSnapshot(`
      [
        "url",
        "state",
      ]
    `);
  });
});
