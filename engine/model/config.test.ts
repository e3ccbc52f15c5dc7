import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

const shipped = fileURLToPath(new URL('../models/qwen3.5-tiny-books', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'config-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A folder with the shipped config after textual edits. */
function withEdit(from: string | RegExp, to: string): string {
  const text = readFileSync(join(shipped, 'config.json'), 'utf8');
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  writeFileSync(join(folder, 'config.json'), changed);
  return folder;
}

describe('readConfig', () => {
  it('reads the shipped model', () => {
    expect(readConfig(shipped)).toMatchObject({ vocab: 2048, hidden: 256, rotary: 16, ropeTheta: 1e7, convChannels: 512, convTaps: 4 });
    expect(readConfig(shipped).layerTypes.filter((type) => type === 'full_attention')).toHaveLength(2);
  });

  it('derives the layer types from the interval', () => {
    expect(readConfig(withEdit(/"layer_types": \[[^\]]*\],/, '')).layerTypes).toEqual(readConfig(shipped).layerTypes);
  });

  it.each<[string | RegExp, string, RegExp]>([
    [/"bits": 4/, '"bits": 8', /quantization\.bits/],
    [/"group_size": 64/, '"group_size": 32', /quantization\.group_size/],
    [
      '"mode": "affine"',
      '"mode": "affine", "language_model.model.layers.0.mlp.gate_proj": {"group_size": 64, "bits": 8}',
      /config\.json is not served: quantization\.language_model\.model\.layers\.0\.mlp\.gate_proj has 8 bits, and every matrix must have 4 bits, group 64/,
    ],
    ['"mode": "affine"', '"mode": "affine", "model.layers.3.self_attn.q_proj": {"group_size": 32, "bits": 4}', /q_proj is \{"group_size":32,"bits":4\}, and/],
    ['"mode": "affine"', '"mode": "affine", "language_model.lm_head": false', /quantization\.language_model\.lm_head is false, and/],
    ['"mode": "affine"', '"mode": "mxfp4"', /quantization\.mode/],
    ['"attn_output_gate": true', '"attn_output_gate": false', /attn_output_gate/],
    ['"hidden_size": 256', '"hidden_size": 100', /hidden_size/],
    ['"vocab_size": 2048,', '', /vocab_size/],
    ['"num_hidden_layers": 8', '"num_hidden_layers": 9', /layer_types has 8 entries for 9 layers/],
    ['"num_key_value_heads": 2', '"num_key_value_heads": 3', /num_key_value_heads/],
  ])('refuses %s → %s by field', (from, to, message) => {
    const edited = withEdit(from, to);
    expect(() => readConfig(edited)).toThrow(message);
  });

  it('takes overrides that change nothing of the text model', () => {
    const overrides = `"vision_tower.blocks.0.attn.qkv": {"group_size": 64, "bits": 8}, "language_model.mtp.fc": false,
      "language_model.model.embed_tokens": {"group_size": 64, "bits": 4}, "language_model.model.layers.1.mlp.up_proj": true`;
    expect(readConfig(withEdit('"mode": "affine"', `"mode": "affine", ${overrides}`))).toEqual(readConfig(shipped));
  });

  it('knows an untied head', () => {
    expect(readConfig(shipped).tiedHead).toBe(true);
    expect(readConfig(withEdit(/"tie_word_embeddings": true/g, '"tie_word_embeddings": false')).tiedHead).toBe(false);
  });

  it('refuses a folder without config.json', () => {
    expect(() => readConfig(join(folder, 'absent'))).toThrow(/config\.json cannot be read/);
  });
});
