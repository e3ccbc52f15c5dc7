/** What adapters this host has, as the engine of the running checkout sees them, and which of them an agent serves. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { parseRecords, type AdapterRecord } from '../engine/protocol.ts';

const DEVICES_MS = 120_000;

/** No adapter matches, or the engine cannot list any. The message is for people; `next` is a command. */
export class NoAdapter extends Error {
  readonly next: string;

  constructor(message: string, next: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NoAdapter';
    this.next = next;
  }
}

/**
 * Lists adapters by running `engine devices --json`, software drivers too: a refusal can then say that one was found.
 * @param checkout root of the running checkout.
 * @throws NoAdapter when the engine ends with another status than 0 or 1, or writes what is no record.
 */
export async function listAdapters(checkout: string): Promise<AdapterRecord[]> {
  const args = ['--import', import.meta.resolve('tsx'), `${checkout}/engine/main.ts`, 'devices', '--json', '--allow-software'];
  const child = spawn(process.execPath, args, { cwd: checkout, stdio: ['ignore', 'pipe', 'pipe'], timeout: DEVICES_MS, killSignal: 'SIGKILL' });
  const ended = new Promise<number | null>((settle, reject) => {
    child.once('error', reject);
    child.once('close', (code) => settle(code));
  });
  const [status, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const next = 'fleet engine devices --allow-software';
  // 1: refused, that is none opened; its records say the same.
  if (status !== 0 && status !== 1) throw new NoAdapter(`the engine cannot list adapters (status ${status}): ${stderr.trim().slice(-500)}`, next);
  try {
    return parseRecords(stdout).records.filter((record) => record.kind === 'adapter');
  } catch (cause) {
    throw new NoAdapter(`the engine's list of adapters cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, next, { cause });
  }
}

/**
 * Picks the adapter whose name holds the pattern, in any case; a GPU before a software driver.
 * @throws NoAdapter that names what was found.
 */
export function chooseAdapter(adapters: readonly AdapterRecord[], pattern: string, allowSoftware: boolean): AdapterRecord {
  const wanted = pattern.toLowerCase();
  const named = adapters.filter((adapter) => adapter.name.toLowerCase().includes(wanted));
  const matching = named.filter((adapter) => allowSoftware || adapter.evidence === 'gpu');
  const found = matching.find((adapter) => adapter.evidence === 'gpu') ?? matching[0];
  if (found !== undefined) return found;
  const names = adapters.map((adapter) => `"${adapter.name}" (${adapter.evidence})`).join(', ');
  const seen = names === '' ? 'no adapter opens on this host' : `found ${names}`;
  const software = named[0];
  if (software !== undefined)
    throw new NoAdapter(
      `no GPU matches "${pattern}": ${seen}; "${software.name}" is a software driver, which is refused without --allow-software`,
      'the same command with --allow-software',
    );
  throw new NoAdapter(`no adapter matches "${pattern}": ${seen}`, 'fleet engine devices --allow-software');
}
