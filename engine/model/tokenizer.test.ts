import { readFileSync } from 'node:fs';
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
