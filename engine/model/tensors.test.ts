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
  it('takes the shipped checkpoint, and ignores what is not the text model’s', () => {
    const entry: TensorEntry = { name: 'vision_tower.x', dtype: 'F32', shape: [1], start: 0, bytes: 4 };
    expect(() =>
      checkTensors(
        folder,
        config,
        edited((tensors) => tensors.set(entry.name, entry)),
      ),
    ).not.toThrow();
  });

  it('refuses a missing, an extra, a misshaped tensor and a wrong dtype by name', () => {
    const check = (edit: (tensors: Map<string, TensorEntry>) => void) => () => checkTensors(folder, config, edited(edit));
    expect(check((tensors) => tensors.delete(norm))).toThrow(`tensor ${norm} is missing`);
    expect(check((tensors) => tensors.set(norm, { ...tensors.get(norm)!, shape: [255] }))).toThrow(`tensor ${norm} has shape [255], not [256]`);
    expect(check((tensors) => tensors.set(norm, { ...tensors.get(norm)!, dtype: 'F16' }))).toThrow(`tensor ${norm} is F16, not BF16 or F32`);
    expect(check((tensors) => tensors.set('language_model.lm_head.weight', tensors.get(norm)!))).toThrow('language_model.lm_head.weight is not expected');
  });
});
