/** MODEL/tokenizer.json through @huggingface/tokenizers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { EngineRefused } from '../errors.ts';

/** Text to ids and back. No special token is added or hidden: a prompt is exactly its text. */
export interface TextCodec {
  encode(text: string): number[];
  decode(ids: readonly number[]): string;
}

/**
 * Loads the tokenizer of a model folder.
 * @throws EngineRefused when a file is missing or malformed.
 */
export function loadTokenizer(folder: string): TextCodec {
  const read = (file: string): object => {
    try {
      return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(folder, file), 'utf8')));
    } catch (cause) {
      throw new EngineRefused(
        `the model's ${join(folder, file)} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
        'use --prompt-ids, or copy the model again',
        { cause },
      );
    }
  };
  const tokenizer = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
  return {
    encode: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    decode: (ids) => tokenizer.decode([...ids], { skip_special_tokens: false, clean_up_tokenization_spaces: false }),
  };
}
