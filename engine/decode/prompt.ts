/** Where the ids of a prompt come from: a named prompt of the model, ids, or text. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { EngineRefused, EngineUsage } from '../errors.ts';
import type { TextCodec } from '../model/tokenizer.ts';

export interface PromptOptions {
  readonly prompt?: string | undefined;
  readonly promptIds?: string | undefined;
  readonly text?: string | undefined;
}

export interface Prompt {
  /** The name given with --prompt; null otherwise. */
  readonly name: string | null;
  readonly ids: readonly number[];
}

const idList = z.array(z.int().nonnegative());

/** `ids`, where present, hold: a text cut from a longer one need not tokenise to the ids that it had there. */
const promptFile = z.object({ text: z.string(), ids: idList.min(1).optional() });

/**
 * Finds the prompt.
 * @param folder the model's; --prompt NAME is NAME.json in its `prompts` folder.
 * @throws EngineUsage unless exactly one source is given and it is well formed; EngineRefused for an unknown name or an id outside the vocabulary.
 */
export function readPrompt(folder: string, options: PromptOptions, codec: () => TextCodec, vocab: number): Prompt {
  const given = [options.prompt, options.promptIds, options.text].filter((source) => source !== undefined);
  if (given.length !== 1) throw new EngineUsage('give exactly one of --prompt, --prompt-ids and --text');
  const prompt = find(folder, options, codec);
  if (prompt.ids.length === 0) throw new EngineUsage('the prompt is empty');
  const outside = prompt.ids.find((id) => id >= vocab);
  if (outside !== undefined) throw new EngineRefused(`prompt id ${outside} is outside the model's vocabulary of ${vocab}`, 'use ids of this model’s tokenizer');
  return prompt;
}

function find(folder: string, options: PromptOptions, codec: () => TextCodec): Prompt {
  if (options.text !== undefined) return { name: null, ids: codec().encode(options.text) };
  if (options.promptIds !== undefined) return { name: null, ids: parseIds('--prompt-ids', options.promptIds) };
  return named(folder, options.prompt!, codec);
}

function named(folder: string, name: string, codec: () => TextCodec): Prompt {
  const prompts = join(folder, 'prompts');
  const names = existsSync(prompts) ? readdirSync(prompts).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : [])) : [];
  // Only names that the folder lists, so that a name is never a path.
  if (!names.includes(name)) {
    throw new EngineRefused(
      `the model has no prompt "${name}"; it has ${names.toSorted().join(', ') || 'none'}`,
      `put {"text": …} into ${join(prompts, 'NAME.json')}, or use --text`,
    );
  }
  const path = join(prompts, `${name}.json`);
  const parsed = promptFile.safeParse(readJson(path));
  if (!parsed.success) throw new EngineRefused(`the prompt file ${path} is not {"text": …, "ids"?: […]}`, 'correct it, or use --text');
  return { name, ids: parsed.data.ids ?? codec().encode(parsed.data.text) };
}

/**
 * Ids from comma-separated numbers, or from a file with a JSON array.
 * @param flag what to call the source in an error.
 */
export function parseIds(flag: string, value: string): number[] {
  const list: unknown = existsSync(value) ? readJson(value) : value.split(',').map((word) => (/^\s*\d+\s*$/.test(word) ? Number(word) : word));
  const parsed = idList.safeParse(list);
  if (!parsed.success) throw new EngineUsage(`${flag} takes comma-separated ids or a file with a JSON array of ids, not "${value.slice(0, 80)}"`);
  return parsed.data;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** SHA-256 of ids as little-endian uint32. */
export function idsSha256(ids: readonly number[]): string {
  const bytes = Buffer.alloc(ids.length * 4);
  for (const [index, id] of ids.entries()) bytes.writeUInt32LE(id, index * 4);
  return createHash('sha256').update(bytes).digest('hex');
}
