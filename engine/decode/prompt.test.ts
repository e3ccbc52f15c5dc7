import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { TextCodec } from '../model/tokenizer.ts';
import { idsSha256, parseIds, readPrompt } from './prompt.ts';

const folder = mkdtempSync(join(tmpdir(), 'prompt-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'prompts'));
writeFileSync(join(folder, 'prompts', 'both.json'), '{"text": "ab", "ids": [7, 8]}');
writeFileSync(join(folder, 'prompts', 'broken.json'), '{"ids": [7]}');
writeFileSync(join(folder, 'list.json'), '[1, 2, 3]');

/** One id a character. */
const codec: TextCodec = { encode: (text) => Array.from(text, (letter) => letter.codePointAt(0)!), decode: (ids) => String.fromCodePoint(...ids) };
const read = (options: Parameters<typeof readPrompt>[1]) => () => readPrompt(folder, options, () => codec, 1000);

describe('readPrompt', () => {
  it('prefers a prompt file’s ids to its text', () => {
    expect(read({ prompt: 'both' })()).toEqual({ name: 'both', ids: [7, 8] });
  });

  it('tokenises text, and takes ids from words or a file', () => {
    expect(read({ text: 'ab' })()).toEqual({ name: null, ids: [97, 98] });
    expect(read({ promptIds: '4, 5' })().ids).toEqual([4, 5]);
    expect(read({ promptIds: join(folder, 'list.json') })().ids).toEqual([1, 2, 3]);
  });

  it('refuses everything else', () => {
    expect(read({})).toThrow('exactly one of');
    expect(read({ text: 'a', promptIds: '1' })).toThrow('exactly one of');
    expect(read({ text: '' })).toThrow('empty');
    expect(read({ prompt: 'absent' })).toThrow('it has both, broken');
    expect(read({ prompt: '../list' })).toThrow('no prompt "../list"');
    expect(read({ prompt: 'broken' })).toThrow('broken.json is not');
    expect(read({ promptIds: '1,x' })).toThrow('not "1,x"');
    expect(read({ promptIds: '1,1000' })).toThrow('prompt id 1000 is outside');
  });
});

describe('ids', () => {
  it('hashes as little-endian uint32', () => {
    // sha256 of 01 00 00 00 00 01 00 00
    expect(idsSha256([1, 256])).toBe('242045e2f1bb37769b514f182fd91b3d215324cb57f187cced1e9c62921dbac3');
  });

  it('names the flag that was wrong', () => {
    expect(() => parseIds('--pinned-ids', 'no-such-file')).toThrow('--pinned-ids takes');
  });
});
