import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { Checkpoint } from '../model/checkpoint.ts';
import { readConfig } from '../model/config.ts';
import { checkTensors } from '../model/tensors.ts';
import { synthCommand } from './command.ts';
import { configJson } from './configs.ts';

const scratch = mkdtempSync(join(tmpdir(), 'synth-'));
afterAll(() => rmSync(scratch, { recursive: true }));

let made = 0;
async function synth(config: string, seed: number): Promise<{ folder: string; said: string[]; sha256: string }> {
  const folder = join(scratch, String(made++), 'model');
  const said: string[] = [];
  await synthCommand({ settings: {}, emit: () => undefined, print: (line) => said.push(line) }, { config, seed, out: folder });
  return {
    folder,
    said,
    sha256: createHash('sha256')
      .update(readFileSync(join(folder, 'model.safetensors')))
      .digest('hex'),
  };
}

// Millions of weights are drawn, and every core may be busy.
describe('synth', { timeout: 240_000 }, () => {
  it('writes the same bytes for the same seed, on every machine, and others for another', async () => {
    const first = await synth('awkward', 1);
    expect(first.sha256).toBe('0eb87b5b5f904149cc4bad2dcada3fd8a1b15559faafe82a49e45139fc95e09c');
    expect(first.said).toEqual([`${join(first.folder, 'model.safetensors')}: awkward, seed 1, 119 tensors, 2733016 bytes, sha256 ${first.sha256}`]);
    expect(readdirSync(first.folder).toSorted()).toEqual(['config.json', 'model.safetensors']);
    expect((await synth('awkward', 2)).sha256).not.toBe(first.sha256);
  });

  it('writes what the loader takes, as large as the shipped model for its config, at the scale of a trained model', async () => {
    const { folder } = await synth('tiny', 7);
    const config = readConfig(folder);
    const checkpoint = Checkpoint.open(folder);
    expect(checkTensors(folder, config, checkpoint.tensors)).toEqual(new Map());
    const shipped = fileURLToPath(new URL('../models/qwen3.5-tiny-books', import.meta.url));
    expect({ ...config, maxPositions: 0 }).toEqual({ ...readConfig(shipped), maxPositions: 0 });

    const norm = new Uint16Array(256);
    checkpoint.read('language_model.model.layers.0.input_layernorm.weight', new Uint8Array(norm.buffer));
    const weights = Array.from(norm, (half) => new Float32Array(Uint32Array.of(half << 16).buffer)[0]!);
    const mean = weights.reduce((sum, weight) => sum + weight / 256, 0);
    const deviation = Math.sqrt(weights.reduce((sum, weight) => sum + (weight - mean) ** 2 / 256, 0));
    expect(Math.abs(mean - 1)).toBeLessThan(0.02);
    expect(Math.abs(deviation - 0.05)).toBeLessThan(0.01);
    checkpoint.close();
  });

  it('has the sizes of Qwen3.5-2B, whose head is larger than the least binding', () => {
    expect(configJson('2b')).toMatchObject({ text_config: { vocab_size: 248320, hidden_size: 2048, num_hidden_layers: 24, linear_num_key_heads: 16 } });
    expect(configJson('2b-slice')).toMatchObject({ text_config: { vocab_size: 4096, hidden_size: 2048, num_hidden_layers: 4 } });
  });

  it('refuses an unknown config, and a folder that holds something', async () => {
    await expect(synth('9b', 1)).rejects.toThrow('--config 9b: there is tiny, 2b, 2b-slice, awkward');
    const full = join(scratch, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'a'), '');
    const session = { settings: {}, emit: () => undefined, print: () => undefined };
    await expect(synthCommand(session, { config: 'tiny', seed: 1, out: full })).rejects.toThrow(`--out ${full} is there already and is no empty folder`);
    expect(readdirSync(full)).toEqual(['a']);
  });
});
