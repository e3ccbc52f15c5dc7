/** The supervisor with real legs, real signals and a real lock. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, copyFileSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findMarked } from '../../agent/marker-sweep.ts';
import { Supervisor } from '../../agent/supervisor-client.ts';
import { canLockByHand, CHECKOUT, Cleanup, descriptorsOf, endGroup, holdingSupervisor, isAlive, legPid, lockByHand, type Held } from './agent-support.ts';
import { until } from './coordinator-support.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());
const lockFile = (): string => join(cleanup.folder(), 'gpu.lock');

describe('a leg', () => {
  // One supervisor for all of them: starting one takes a second.
  const shared = new Cleanup();
  const lock = join(shared.folder(), 'gpu.lock');
  let held: Held;
  beforeAll(async () => {
    held = await holdingSupervisor(shared, lock);
  });
  afterAll(() => shared.run());

  it('runs under the lock, which is kept between legs', async () => {
    for (const text of ['one', 'two']) {
      const report = await held.leg(`echo ${text}; echo noise >&2; exit 3`);
      expect(report).toMatchObject({ lockHeldBefore: true, lockHeldAfter: true, ran: { stdout: `${text}\n`, stderr: 'noise\n', exitCode: 3, signal: null } });
      expect(await canLockByHand(lock)).toBe(false);
    }
  });

  it('has a clean environment, no stdin, and no descriptor of the lock', async () => {
    const ended = held.leg('cat; env; exec sleep 30', { env: { ONLY: 'this' } });
    const pid = await legPid(held);
    await until('the leg to sleep', () => descriptorsOf(pid).length > 0 && findMarked((marker) => marker === held.marker).length === 1);
    expect(descriptorsOf(pid)).not.toContain(lock);
    // Control: the same look does find the lock where it is.
    expect(descriptorsOf(held.supervisor.pid!)).toContain(lock);
    const inheriting = openSync(lock, 'r');
    const careless = spawn('sleep', ['30'], { stdio: ['ignore', 'ignore', 'ignore', inheriting] });
    cleanup.add(() => careless.kill('SIGKILL'));
    closeSync(inheriting);
    expect(descriptorsOf(careless.pid!)).toContain(lock);

    process.kill(pid, 'SIGTERM');
    const { ran } = await ended;
    expect(ran).toMatchObject({ exitCode: null, signal: 'SIGTERM' });
    const names = ran!.stdout.split('\n').map((line) => line.split('=', 1).join(''));
    // The shell sets these itself.
    const given = names.filter((name) => !['', 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
    expect(new Set(given)).toEqual(new Set(['FLEET_ATTEMPT', 'ONLY', 'PATH']));
  });

  it('is ended at its time limit, with everything it started', async () => {
    const { ran } = await held.leg('trap "" TERM; sleep 61 & sleep 62; sleep 63', { timeoutMs: 300 });
    expect(ran).toMatchObject({ timedOut: true, signal: 'SIGKILL' });
    // The limit and the 2 s between SIGTERM and SIGKILL passed, but no sleep of a minute was waited for.
    expect(ran!.wallMs).toBeGreaterThan(2200);
    expect(ran!.wallMs).toBeLessThan(60_000);
    expect(findMarked((marker) => marker === held.marker)).toEqual([]);
  });

  it('leaves no process behind that made itself a session of its own and holds the pipes', async () => {
    const { ran } = await held.leg('setsid -f sleep 64; sleep 0.5; echo done');
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'done\n', swept: 1 });
    // Not the 64 s of the process that left.
    expect(ran!.wallMs).toBeLessThan(60_000);
    expect(findMarked((marker) => marker === held.marker)).toEqual([]);
  });

  it('may print without end: head and tail are kept', async () => {
    const { ran } = await held.leg('yes "a line of the flood" | head -c 20000000; echo; echo last');
    expect(ran!.stdout.length).toBeLessThan(257 * 1024 + 200);
    expect(ran!.stdout).toMatch(/^a line of the flood\n[^]*\[fleet: \d+ bytes left out here, sha256 [0-9a-f]{64}\]\n[^]*\nlast\n$/);
    expect(ran!.droppedBytes).toBe(20_000_000 + '\nlast\n'.length - 256 * 1024);
  });

  it('has its memory measured, not its parent’s', async () => {
    const small = await held.leg('sleep 0.3');
    const large = await held.leg(`${process.execPath} -e 'Buffer.alloc(3e8, 1); setTimeout(() => {}, 400)'`);
    expect(small.ran!.vmHwmKiB).toBeLessThan(20_000);
    expect(large.ran!.vmHwmKiB).toBeGreaterThan(290_000);
  });

  it('has its major page faults counted: a program that is not in memory waits for the disk', async () => {
    const folder = cleanup.folder();
    const program = join(folder, 'cold');
    copyFileSync('/bin/sh', program);
    // Written out, then taken from the page cache.
    execFileSync('sync', [program]);
    execFileSync('dd', [`if=${program}`, 'iflag=nocache', 'count=0', 'status=none']);
    const { ran } = await held.leg(`${program} -c true`);
    const inMemory = statfsSync(folder).type === 0x01021994; // tmpfs has no disk behind it
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(ran!.majorFaults).toBeGreaterThanOrEqual(inMemory ? 0 : 1);
  });

  it('whose program is not there says so', async () => {
    const report = await held.supervisor.runLeg({
      index: 0,
      argv: ['./no-such-runner'],
      cwd: '/',
      env: { PATH: '/bin' },
      timeoutMs: 1000,
      marker: held.marker,
    });
    expect(report.ran!.spawnError).toContain('command not found: ./no-such-runner');
  });

  it('is void when somebody takes the lock by hand while it runs, and says who; the next one is not started', async () => {
    const own = lockFile();
    const losing = await holdingSupervisor(cleanup, own);
    const ended = losing.leg('sleep 2');
    await legPid(losing);
    // What flock(1) alone cannot do to a held lock: the file is replaced, and the new one locked.
    rmSync(own);
    const hand = await lockByHand(cleanup, own, 60);
    const taker = `flock ${own} sh -c echo held; exec sleep 60 (pid ${hand.pid})`;
    expect(await ended).toMatchObject({ lockHeldBefore: true, lockHeldAfter: false, lockTakenBy: taker });
    expect(await losing.leg('echo never')).toMatchObject({ lockHeldBefore: false, lockTakenBy: taker, ran: null });
  });

  it('is void when the lock file is removed meanwhile, and the next one is not started', async () => {
    const own = lockFile();
    const losing = await holdingSupervisor(cleanup, own);
    expect(await losing.leg(`rm ${own}; echo x`)).toMatchObject({ lockHeldBefore: true, lockHeldAfter: false });
    expect(await losing.leg('echo never')).toMatchObject({ lockHeldBefore: false, ran: null });
    writeFileSync(own, '');
    expect(await losing.leg('echo never')).toMatchObject({ lockHeldBefore: false, ran: null });
  });
});

describe('the supervisor', () => {
  it('waits for a lock that somebody holds by hand, says who, and runs once it is free', async () => {
    const lock = lockFile();
    const hand = await lockByHand(cleanup, lock, 60);
    const supervisor = Supervisor.start({ checkout: CHECKOUT, job: 'r0000000000.b60.gates', marker: 'test-wait/1' });
    cleanup.add(() => supervisor.close());
    const holders: (string | null)[] = [];
    let locked = false;
    const locking = supervisor.lock(lock, (holder) => holders.push(holder)).then(() => (locked = true));
    await until('the holder', () => holders.length > 0);
    expect(holders[0]).toContain(`flock ${lock}`);
    expect(locked).toBe(false);
    endGroup(hand);
    await locking;
    expect(await canLockByHand(lock)).toBe(false);
  });

  it('names itself by its job to whoever waits for it', async () => {
    const lock = lockFile();
    const held = await holdingSupervisor(cleanup, lock);
    const { describeLockHolder } = await import('../../agent/lock-holder.ts');
    expect(describeLockHolder(lock)).toBe(`fleet job r0000000000.b60.gates (pid ${held.supervisor.pid})`);
  });

  it('ends the leg and frees the lock when its stdin ends, as it does when the agent dies', async () => {
    const lock = lockFile();
    const held = await holdingSupervisor(cleanup, lock);
    const ended = held.leg('setsid -f sleep 65; sleep 66');
    const outcome = ended.catch((error: Error) => error.message);
    const pid = await legPid(held);
    await until('both processes', () => findMarked((marker) => marker === held.marker).length >= 3);
    await held.supervisor.close();
    expect(await outcome).toContain('the supervisor ended (status 0)');
    expect(isAlive(pid)).toBe(false);
    expect(findMarked((marker) => marker === held.marker)).toEqual([]);
    expect(await canLockByHand(lock)).toBe(true);
  });

  it('takes the leg with it when it is killed outright', async () => {
    const lock = lockFile();
    const held = await holdingSupervisor(cleanup, lock);
    const ended = held.leg('setsid -f sleep 67; exec sleep 68');
    const outcome = ended.catch((error: Error) => error.message);
    const pid = await legPid(held);
    await until('both processes', () => findMarked((marker) => marker === held.marker).length >= 2);
    process.kill(held.supervisor.pid!, 'SIGKILL');
    expect(await outcome).toContain('the supervisor ended (SIGKILL)');
    await until('the leg to end', () => !isAlive(pid) && findMarked((marker) => marker === held.marker).length === 0);
    expect(await canLockByHand(lock)).toBe(true);
  });
});
