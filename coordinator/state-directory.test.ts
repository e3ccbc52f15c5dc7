import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultStateDirectory, takeStateDirectory } from './state-directory.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fleet-state-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('is held by one at a time, for its owner only, and says who has it', () => {
  const path = join(root, 'state');
  const first = takeStateDirectory(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  first.announce('http://127.0.0.1:1');
  expect(JSON.parse(readFileSync(join(path, 'server.json'), 'utf8'))).toEqual({ url: 'http://127.0.0.1:1', pid: process.pid });
  expect(() => takeStateDirectory(path)).toThrow(`${path} is served by a live coordinator (pid ${process.pid}, http://127.0.0.1:1). next:`);
  first.release();
  expect(existsSync(join(path, 'server.json'))).toBe(false);
  takeStateDirectory(path).release();
});

// Node's recursive mkdir never returns from /proc.
it.each(['/proc/fleet/state', '/dev/null/state'])('says that %s cannot be made, and what to do', (path) => {
  expect(() => takeStateDirectory(path)).toThrow(/cannot be made \(E\w+: .*\)\. next: choose a folder that you may write with --state DIR$/);
});

it('is FLEET_STATE, else under XDG_STATE_HOME, else under the home', () => {
  expect(defaultStateDirectory({ FLEET_STATE: '/a', XDG_STATE_HOME: '/b' })).toBe('/a');
  expect(defaultStateDirectory({ XDG_STATE_HOME: '/b' })).toBe('/b/fleet');
  expect(defaultStateDirectory({})).toMatch(/\.local\/state\/fleet$/);
});
