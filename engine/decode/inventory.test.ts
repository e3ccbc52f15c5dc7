import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { engineRecordLine, type EngineRecord } from '../protocol.ts';
import { inventoryCommand, type InventoryOptions } from './inventory.ts';
import { parseSettings } from './settings.ts';

const model = fileURLToPath(new URL('../models/qwen3.5-tiny-books', import.meta.url));

async function inventory(options: Partial<InventoryOptions>): Promise<{ record: Extract<EngineRecord, { kind: 'inventory' }>; lines: string[] }> {
  const records: EngineRecord[] = [];
  const lines: string[] = [];
  const session = { settings: parseSettings([]), emit: (record: EngineRecord) => void records.push(record), print: (line: string) => void lines.push(line) };
  await inventoryCommand(session, { bindingLimit: 2 ** 31 - 4, ...options });
  const record = engineRecordLine.parse(records[0]);
  if (record.kind !== 'inventory') throw new Error(`a ${record.kind} record`);
  return { record, lines };
}

it('gives the shipped model and its config the same table', async () => {
  const [shipped, config] = [await inventory({ model }), await inventory({ config: 'tiny' })];
  expect({ ...shipped.record, model: '' }).toEqual({ ...config.record, model: '' });
  expect(shipped.record.recorded).toBe(shipped.record.serial);
  expect(shipped.lines[0]).toContain(`qwen3.5-tiny-books: ${shipped.record.serial} dispatches a token`);
  const result = shipped.record.buffers.find(({ buffer }) => buffer === 'argmax result')!;
  // The token's first dispatch takes the id that the last token's argmax left.
  expect(result).toMatchObject({ consumers: [0], carried: true });
  expect(result.producers.map((place) => shipped.record.dispatches[place]!.kernel)).toEqual(['argmax']);
});

it('plans a head in parts where a binding is smaller', async () => {
  const [whole, parts] = [await inventory({ config: '2b' }), await inventory({ config: '2b', bindingLimit: 2 ** 27 })];
  expect(parts.record.serial).toBe(whole.record.serial + 2);
  expect(parts.record.recorded).toBe(parts.record.serial);
});

it('asks for exactly one subject that it knows', async () => {
  await expect(inventory({})).rejects.toThrow('name a model with --model DIR, or one of tiny, 2b');
  await expect(inventory({ config: '9b' })).rejects.toThrow('one of tiny, 2b');
});
