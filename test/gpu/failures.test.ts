/** A device that breaks under a decode: the process ends with the documented status and one line, and writes no result. */
import { describe, expect, it } from 'vitest';
import { parseRecords } from '../../engine/protocol.ts';
import { engineAdapters, runEngine } from '../support/engine.ts';

const model = new URL('../../engine/models/qwen3.5-tiny-books', import.meta.url).pathname;
const preload = new URL('../support/break-device.mjs', import.meta.url).href;

describe.each((await engineAdapters()).map((adapter) => [adapter.name, adapter] as const))('%s', (_, adapter) => {
  const decode = (mode: string): ReturnType<typeof runEngine> => {
    const drivers: Record<string, string> = adapter.driverFiles === null ? {} : { VK_DRIVER_FILES: adapter.driverFiles };
    const args = ['--model', model, '--prompt-ids', '3,1,4', '--steps', '4', '--adapter', adapter.name, '--allow-software', '--json'];
    return runEngine(['decode', ...args], { ...drivers, NODE_OPTIONS: `--import ${preload}`, BREAK_DEVICE: mode });
  };

  it.each([
    ['allocation', 70, /^engine decode: a buffer of 96 bytes to read back into cannot be made on .*: RangeError: createBuffer failed.*\. next: /],
    ['fence', 124, /^engine decode: a readback on .* did not finish within [3-9]\d{5} ms\. next: look for another process on the GPU/],
    ['lost', 70, /^engine decode: the device .* was lost \(destroyed\): .*\. next: /],
    ['submit', 70, /^engine decode: invalid work on .*: .*logits.* used in submit while destroyed.*\. next: /],
  ])(
    '%s: status %i, one line, no decode record',
    async (mode, status, line) => {
      const ran = await decode(mode);
      const said = ran.stderr
        .trimEnd()
        .split('\n')
        .filter((text) => !text.startsWith('Warning: max'));
      expect([ran.status, said]).toEqual([status, [expect.stringMatching(line)]]);
      const { records, whole } = parseRecords(ran.stdout);
      expect([whole, records.map(({ kind }) => kind)]).toEqual([false, ['engine', 'adapter', 'failure']]);
    },
    240_000,
  );

  it('leaves a decode as it is where nothing is broken', async () => {
    const ran = await decode('none');
    expect([ran.status, parseRecords(ran.stdout).whole]).toEqual([0, true]);
  });
});
