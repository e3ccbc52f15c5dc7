/** The GPU lock against the flock that people type. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { describeLockHolder } from '../../agent/lock-holder.ts';
import { tryLock } from '../../agent/lock.ts';
import { canLockByHand, Cleanup, endGroup, lockByHand } from './agent-support.ts';
import { until } from './coordinator-support.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());
const lockFile = (): string => join(cleanup.folder(), 'gpu.lock');

describe('the lock', () => {
  it('keeps `flock FILE cmd` out, and lets it in once released', async () => {
    const file = lockFile();
    const held = tryLock(file)!;
    expect(await canLockByHand(file)).toBe(false);
    held.release();
    expect(await canLockByHand(file)).toBe(true);
  });

  it('is kept out by `flock FILE cmd`, and names who that is', async () => {
    const file = lockFile();
    const hand = await lockByHand(cleanup, file, 60);
    expect(tryLock(file)).toBeNull();
    expect(describeLockHolder(file)).toBe(`flock ${file} sh -c echo held; exec sleep 60 (pid ${hand.pid})`);
    endGroup(hand);
    const held = await until('the lock', () => tryLock(file));
    held.release();
    expect(describeLockHolder(file)).toBeNull();
  });

  it('knows while it is held', () => {
    const held = tryLock(lockFile())!;
    cleanup.add(() => held.release());
    expect(held.stillHeld()).toBe(true);
    expect(held.stillHeld()).toBe(true);
  });

  it('knows when the file was replaced, so that others lock another one', () => {
    const file = lockFile();
    const held = tryLock(file)!;
    cleanup.add(() => held.release());
    writeFileSync(`${file}.new`, '');
    renameSync(`${file}.new`, file);
    expect(held.stillHeld()).toBe(false);
  });

  it('is not fooled by somebody else who locks the replaced file', async () => {
    const file = lockFile();
    const held = tryLock(file)!;
    cleanup.add(() => held.release());
    writeFileSync(`${file}.new`, '');
    renameSync(`${file}.new`, file);
    await lockByHand(cleanup, file, 60);
    expect(held.stillHeld()).toBe(false);
  });
});
