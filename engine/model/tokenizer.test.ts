import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readPrompt } from '../decode/prompt.ts';
import { loadTokenizer } from './tokenizer.ts';

const folder = fileURLToPath(new URL('../models/qwen3.5-tiny-books', import.meta.url));
const golden = z.object({ prompt_ids: z.array(z.int()), ids: z.array(z.int()), text: z.string() });

describe('the shipped tokenizer', () => {
  const codec = loadTokenizer(folder);
  it.each(['story', 'unicode', 'document-256', 'document-1024'])('gives the ids and the text that transformers gave for %s', (name) => {
    const expected = golden.parse(JSON.parse(readFileSync(new URL(`../../test/golden/${name}.json`, import.meta.url), 'utf8')));
    expect(readPrompt(folder, { prompt: name }, () => codec, 2048).ids).toEqual(expected.prompt_ids);
    expect(codec.decode(expected.ids)).toBe(expected.text);
  });
});

it('applies no chat template that a published model brings along', () => {
  const copy = mkdtempSync(join(tmpdir(), 'tokenizer-'));
  const template = "{% for message in messages %}<|im_start|>{{ message['content'] }}{% endfor %}";
  copyFileSync(join(folder, 'tokenizer.json'), join(copy, 'tokenizer.json'));
  const settings = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(folder, 'tokenizer_config.json'), 'utf8')));
  writeFileSync(join(copy, 'tokenizer_config.json'), JSON.stringify({ ...settings, chat_template: template }));
  writeFileSync(join(copy, 'chat_template.jinja'), template);
  const text = 'It was a dark night.';
  expect(loadTokenizer(copy).encode(text)).toEqual(loadTokenizer(folder).encode(text));
  rmSync(copy, { recursive: true });
});
