/** `tune`, and `decode --tuned`: what was chosen is what ran, and no digest changes. On every adapter that opens. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { tuneRecord, type DecodeRecord } from '../../engine/protocol.ts';
import { engineAdapters, only, recordsOn, runEngine } from '../support/engine.ts';

const model = new URL('../../engine/models/qwen3.5-tiny-books', import.meta.url).pathname;
const scratch = mkdtempSync(join(tmpdir(), 'tune-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** Few ids: what takes time is compiling. */
const prompt = ['--prompt-ids', '3,1,4,1,5'];

describe.each((await engineAdapters()).map((adapter) => [adapter.name, adapter] as const))('%s', (_, adapter) => {
  const decode = async (...args: string[]): Promise<DecodeRecord> =>
    only(await recordsOn(adapter, 'decode', '--model', model, ...prompt, '--steps', '3', ...args), 'decode');

  it.each([
    ['the unfused kernels', [], 'serial-k', '5'],
    // The prompt's chunk has the shapes of the first case; a single row leaves the token's and the head's.
    ['the fused kernels', ['--set', 'fusion=on'], 'split-k', '1'],
  ])(
    'chooses within the family for %s, and the digest stays',
    async (name, settings, family, prompts) => {
      const file = join(scratch, `${adapter.name} ${name}.json`.replaceAll('/', '-'));
      const record = only(await recordsOn(adapter, 'tune', '--model', model, '--prompts', prompts, '--rounds', '1', '--out', file, ...settings), 'tune');
      expect(tuneRecord.parse(JSON.parse(readFileSync(file, 'utf8')))).toEqual(record);
      expect(record).toMatchObject({ adapter: adapter.name, driver: adapter.driver, families: 'within' });
      expect(record.choices.length).toBeGreaterThan(5);
      for (const { variants, present, variant, family: chosen } of record.choices) {
        expect(new Set(variants.map((each) => each.family))).toEqual(new Set([chosen]));
        expect(variants.map((each) => each.variant)).toEqual(expect.arrayContaining([present, variant]));
        expect(variants.every(({ sameInFamily }) => sameInFamily)).toBe(true);
      }
      // Every choice another than the default, whatever was fastest here: then the digest shows more.
      const other = record.choices.map((choice) => ({ ...choice, variant: choice.variants.find((each) => each.variant !== choice.present)!.variant }));
      writeFileSync(file, JSON.stringify({ ...record, choices: other }));
      const [plain, tuned] = [await decode(...settings), await decode(...settings, '--tuned', file)];
      expect([tuned.digest, tuned.checksumsMatch]).toEqual([plain.digest, true]);
      expect([plain.tuned, tuned.tuned?.path]).toEqual([null, file]);
      expect(tuned.ran!.subgroups).toBe('none');
      const rows = tuned.ran!.token.filter((row) => row.family === family);
      expect(rows.length).toBeGreaterThan(3);
      for (const row of rows) {
        const before = plain.ran!.token.find(({ kernel, shape }) => kernel === row.kernel && shape === row.shape)!;
        expect([row.shape, row.family, row.dispatches]).toEqual([before.shape, before.family, before.dispatches]);
        expect(row.variant).not.toBe(before.variant);
      }
    },
    600_000,
  );

  it('refuses choices of another driver with one line and status 1', async () => {
    const file = join(scratch, 'other.json');
    const record = { schema: 1, kind: 'tune', adapter: adapter.name, driver: 'another', evidence: 'gpu', model: 'm', settings: {}, families: 'within' };
    writeFileSync(file, JSON.stringify({ ...record, rounds: 1, clock: 'wall', choices: [] }));
    const env: Record<string, string> = adapter.driverFiles === null ? {} : { VK_DRIVER_FILES: adapter.driverFiles };
    const ran = await runEngine(['decode', '--model', model, ...prompt, '--adapter', adapter.name, '--allow-software', '--tuned', file], env);
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain(`${file} was tuned on the driver "another", and this one is "${adapter.driver}". next: fleet engine tune`);
    const none = await runEngine(['decode', '--model', model, ...prompt, '--adapter', adapter.name, '--allow-software', '--tuned'], {
      ...env,
      XDG_CACHE_HOME: scratch,
    });
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining(`nothing was tuned for ${adapter.name}`)]);
  });
});
