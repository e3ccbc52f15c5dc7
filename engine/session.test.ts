import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { EngineBroken, EngineRefused, EngineTimeout, EngineUsage, withTimeout } from './errors.ts';
import { parseRecords } from './protocol.ts';
import { runCommand, type Session } from './session.ts';

const folder = mkdtempSync(join(tmpdir(), 'session-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** Runs a command that does `work`; gives its status, its records and what it said on stderr. */
async function run(work: (session: Session) => Promise<void>): Promise<{ status: number; kinds: string[]; whole: boolean; stderr: string }> {
  const records = join(folder, 'records.jsonl');
  rmSync(records, { force: true });
  let stderr = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
  const status = await runCommand('devices', { records }, () => ({}), work);
  const parsed = parseRecords(readFileSync(records, 'utf8'));
  return { status, kinds: parsed.records.map(({ kind }) => kind), whole: parsed.whole, stderr };
}

describe('runCommand', () => {
  it('ends a process that executed with an end record', async () => {
    expect(await run(async () => undefined)).toEqual({ status: 0, kinds: ['engine', 'end'], whole: true, stderr: '' });
  });

  it.each<[Error, number, string]>([
    [new EngineRefused('no adapter\nopens.', 'look'), 1, 'refused'],
    [new EngineTimeout('a readback did not finish'), 124, 'failure'],
    [new EngineBroken('lost'), 70, 'failure'],
    [new Error('anything else'), 70, 'failure'],
  ])('turns %s into status %i, one line and one record', async (error, status, kind) => {
    const result = await run(() => Promise.reject(error));
    expect(result).toMatchObject({ status, kinds: ['engine', kind], whole: false });
    expect(result.stderr).toMatch(/^engine devices: .*\. next: .*\n$/);
  });

  it('writes no record for a usage error', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const records = join(folder, 'absent.jsonl');
    expect(
      await runCommand(
        'devices',
        { records },
        () => ({}),
        () => Promise.reject(new EngineUsage('no')),
      ),
    ).toBe(2);
    expect(() => readFileSync(records)).toThrow('ENOENT');
  });

  it('refuses a malformed record', async () => {
    const result = await run(async (session) => session.emit({ schema: 0, kind: 'refused', reason: 'x', next: 'y' }));
    expect(result).toMatchObject({ status: 70, kinds: ['engine', 'failure'] });
  });
});

describe('withTimeout', () => {
  it('names what was late', async () => {
    await expect(withTimeout(new Promise(() => undefined), 5, 'a readback')).rejects.toThrow('a readback did not finish within 5 ms');
    await expect(withTimeout(Promise.resolve(3), 1000, 'x')).resolves.toBe(3);
  });
});
