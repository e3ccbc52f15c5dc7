import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Checkpoint } from './checkpoint.ts';
import { readConfig } from './config.ts';
import type { TensorEntry } from './safetensors.ts';
import { checkTensors } from './tensors.ts';

const folder = fileURLToPath(new URL('../models/qwen3.5-tiny-books', import.meta.url));
const config = readConfig(folder);
const norm = 'language_model.model.layers.2.input_layernorm.weight';

/** The shipped checkpoint's tensors after an edit. */
function edited(edit: (tensors: Map<string, TensorEntry>) => void): Map<string, TensorEntry> {
  const checkpoint = Checkpoint.open(folder);
  const tensors = new Map(checkpoint.tensors);
  checkpoint.close();
  edit(tensors);
  return tensors;
}

describe('checkTensors', () => {
  const check = (edit: (tensors: Map<string, TensorEntry>) => void) => () => checkTensors(folder, config, edited(edit));
  const as = (name: string): TensorEntry => ({ name, dtype: 'F32', shape: [1], start: 0, bytes: 4 });

  it('takes the shipped checkpoint, and counts what is a vision tower’s or MTP’s', () => {
    expect(check(() => undefined)()).toEqual(new Map());
    const foreign = [
      'vision_tower.blocks.0.norm1.weight',
      'model.visual.pos_embed.weight',
      'mtp.fc.weight',
      'language_model.mtp.norm.weight',
      'vision_tower.x',
    ];
    const counted = check((tensors) => foreign.forEach((name) => tensors.set(name, as(name))))();
    expect([...counted]).toEqual([
      ['vision', 3],
      ['MTP', 2],
    ]);
  });

  it('refuses a missing, an extra, a misshaped tensor and a wrong dtype by name', () => {
    expect(check((tensors) => tensors.delete(norm))).toThrow(`tensor ${norm} is missing`);
    expect(check((tensors) => tensors.set(norm, { ...tensors.get(norm)!, shape: [255] }))).toThrow(`tensor ${norm} has shape [255], not [256]`);
    expect(check((tensors) => tensors.set(norm, { ...tensors.get(norm)!, dtype: 'F16' }))).toThrow(`tensor ${norm} is F16, not BF16 or F32`);
    for (const extra of ['language_model.lm_head.weight', 'language_model.model.layers.8.mlp.gate_proj.weight', 'adapter.lora_a'])
      expect(check((tensors) => tensors.set(extra, as(extra)))).toThrow(`tensor ${extra} is not expected`);
    const gate = 'language_model.model.layers.0.mlp.gate_proj.weight';
    expect(check((tensors) => tensors.set(gate, { ...tensors.get(gate)!, shape: [768, 64] }))).toThrow(`tensor ${gate} has shape [768, 64], not [768, 32]`);
  });

  it('refuses what was not converted, whose norms would be 1 too small', () => {
    const conv = 'language_model.model.layers.0.linear_attn.conv1d.weight';
    expect(check((tensors) => tensors.set(conv, { ...tensors.get(conv)!, shape: [512, 1, 4] }))).toThrow(
      `is not converted: tensor ${conv} has shape [512, 1, 4], as Hugging Face transformers has it, so its norms lack the 1 that MLX adds`,
    );
    const huggingFace = 'model.language_model.embed_tokens.weight';
    expect(check((tensors) => tensors.set(huggingFace, as(huggingFace)))).toThrow(`is not converted: a tensor is called ${huggingFace}, as Hugging Face`);
  });

  it('asks for the head where it is not the embedding table', () => {
    const untied = { ...config, tiedHead: false };
    expect(() =>
      checkTensors(
        folder,
        untied,
        edited(() => undefined),
      ),
    ).toThrow('tensor language_model.lm_head.weight is missing');
  });
});
