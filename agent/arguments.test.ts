import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { parseArguments } from './arguments.ts';

const needed = ['--url', 'http://127.0.0.1:1', '--device', 'b60', '--adapter', 'Arc'];

describe('parseArguments', () => {
  it('knows the lock of a GPU and the one that all software devices share', () => {
    const parsed = parseArguments(needed, {});
    expect(parsed.lock).toBeNull();
    expect(parsed.defaultLock('gpu')).toBe(`${homedir()}/gpu.lock`);
    expect(parsed.defaultLock('software')).toBe(`${homedir()}/gpu-software.lock`);
  });

  it('makes paths absolute, the tilde included', () => {
    expect(parseArguments([...needed, '--lock', '~/my.lock'], {}).lock).toBe(`${homedir()}/my.lock`);
    expect(parseArguments(needed, { XDG_STATE_HOME: '/x' }).state).toBe('/x/fleet-agent');
  });

  it.each([
    [['--url', 'http://h'], '--url, --device and --adapter are needed'],
    [[...needed, '--nope'], "Unknown option '--nope'"],
    [['--url', 'ftp://h', '--device', 'b60', '--adapter', 'x'], 'is no http or https URL'],
    [['--url', 'http://h', '--device', 'B 60', '--adapter', 'x'], 'a device name has 1 to 32'],
  ])('refuses %j in one line', (argv, words) => {
    expect(() => parseArguments(argv, {})).toThrow(words);
  });
});
