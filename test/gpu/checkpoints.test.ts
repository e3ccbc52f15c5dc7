/** Checkpoints that the shipped one is not: in parts of a binding, untied, of awkward sizes, sharded and with other models' tensors. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Decoder, type DecoderOptions } from '../../engine/decode/decoder.ts';
import { identityPass } from '../../engine/decode/identity-pass.ts';
import type { Gpu } from '../../engine/gpu/device.ts';
import { Stream } from '../../engine/gpu/stream.ts';
import { Checkpoint } from '../../engine/model/checkpoint.ts';
import { readConfig } from '../../engine/model/config.ts';
import { checkTensors } from '../../engine/model/tensors.ts';
import { loadWeights } from '../../engine/model/fill-weights.ts';
import { synthCommand } from '../../engine/synth/command.ts';
import { SafetensorsWriter } from '../../engine/synth/safetensors-writer.ts';
import { openAnyGpu } from './against-reference.ts';

const shipped = fileURLToPath(new URL('../../engine/models/qwen3.5-tiny-books', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'checkpoints-'));
let gpu: Gpu;
beforeAll(async () => {
  gpu = await openAnyGpu();
});
afterAll(() => {
  gpu.close();
  rmSync(scratch, { recursive: true });
});

interface Decoded {
  readonly ids: readonly number[];
  readonly digest: string;
  readonly rows: Float32Array;
  /** Parts that the embedding table was put into. */
  readonly parts: number;
}

const plain = { qmm: 'scalar', qmmPrompt: 'tile-rows', gdnPrompt: 'token-loop', sdpa: 'whole', fusion: 'off' } as const;

async function decode(
  folder: string,
  prompt: readonly number[],
  steps: number,
  bindingLimit?: number,
  variants: Omit<DecoderOptions, 'prompt' | 'context' | 'chunk'> = plain,
  sliceBytes?: number,
): Promise<Decoded> {
  const config = readConfig(folder);
  const checkpoint = Checkpoint.open(folder);
  try {
    checkTensors(folder, config, checkpoint.tensors);
    const stream = new Stream(gpu);
    const weights = await loadWeights(gpu, stream, config, checkpoint, bindingLimit, sliceBytes);
    const decoder = await Decoder.create(gpu, config, weights, { prompt, context: prompt.length + steps, chunk: 16, ...variants });
    const logits = join(scratch, 'logits.f32');
    const { ids, digest } = await identityPass(gpu, stream, decoder, steps, config.vocab, logits);
    return { ids, digest, rows: new Float32Array(new Uint8Array(readFileSync(logits)).buffer), parts: weights.quantised('model.embed_tokens').parts.length };
  } finally {
    checkpoint.close();
  }
}

/** Copies tensors into one new file: `take` gives the names that each is copied to. @returns the names written. */
function rewrite(from: string, path: string, take: (name: string) => string[]): string[] {
  const checkpoint = Checkpoint.open(from);
  const copies = [...checkpoint.tensors.values()].flatMap((tensor) => take(tensor.name).map((name) => ({ ...tensor, name, source: tensor.name })));
  const writer = new SafetensorsWriter(path, copies);
  for (const { name, source, bytes } of copies) {
    const data = new Uint8Array(bytes);
    checkpoint.read(source, data);
    writer.append(name, data);
  }
  writer.finish();
  writer.close();
  checkpoint.close();
  return copies.map(({ name }) => name);
}

describe('a table larger than a binding', () => {
  // Ids of every part, the first and the last of the table, and both sides of an edge between parts.
  const prompt = [0, 2047, 1023, 1024, 5, 1500, 700, 64, 63, 1999];

  it('gives the same bits in parts as whole', async () => {
    const whole = await decode(shipped, prompt, 3);
    const halves = await decode(shipped, prompt, 3, 128 * 1024);
    const thirds = await decode(shipped, prompt, 3, 98_304);
    expect([whole.parts, halves.parts, thirds.parts]).toEqual([1, 2, 3]);
    expect([halves.digest, thirds.digest]).toEqual([whole.digest, whole.digest]);
  });

  it('is refused by name where a layer’s matrix is too large too, and nothing is allocated', async () => {
    await expect(decode(shipped, prompt, 1, 98_303)).rejects.toThrow('tensor language_model.model.layers.0.mlp.gate_proj.weight has 98304 bytes');
  });
});

describe('loading', () => {
  it('leaves the same weights whatever the slices: of matrices, of vectors that are widened, in parts', async () => {
    const whole = await decode(shipped, [3, 1, 4, 1, 5], 2);
    for (const slice of [1 << 10, 4104]) expect((await decode(shipped, [3, 1, 4, 1, 5], 2, undefined, plain, slice)).digest).toBe(whole.digest);
    expect((await decode(shipped, [3, 1, 4, 1, 5], 2, 98_304, plain, 1 << 12)).digest).toBe(whole.digest);
  });

  it('counts its buffers, and gives back what is destroyed', () => {
    const before = gpu.buffers.live;
    const buffer = gpu.device.createBuffer({ size: 4096, usage: GPUBufferUsage.STORAGE });
    expect(gpu.buffers.live).toBe(before + 4096);
    expect(gpu.buffers.peak).toBeGreaterThanOrEqual(before + 4096);
    buffer.destroy();
    buffer.destroy();
    expect(gpu.buffers.live).toBe(before);
  });
});

describe('checkpoints as published', () => {
  it('decodes shards with vision and MTP tensors, and an untied head, to the bits of the shipped file', async () => {
    const folder = mkdtempSync(join(scratch, 'sharded-'));
    const config = readFileSync(join(shipped, 'config.json'), 'utf8').replaceAll('"tie_word_embeddings": true', '"tie_word_embeddings": false');
    writeFileSync(join(folder, 'config.json'), config);
    const shard = (part: number): string => `model-0000${part}-of-00002.safetensors`;
    const first = rewrite(shipped, join(folder, shard(1)), (name) =>
      name.includes('embed_tokens') ? [name, name.replace('model.embed_tokens', 'lm_head')] : [],
    );
    const second = rewrite(shipped, join(folder, shard(2)), (name) => {
      if (name.includes('embed_tokens')) return [];
      return name === 'language_model.model.norm.weight' ? [name, 'vision_tower.merger.norm.weight', 'mtp.norm.weight'] : [name];
    });
    const places = [...first.map((name) => [name, shard(1)]), ...second.map((name) => [name, shard(2)])];
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ metadata: {}, weight_map: Object.fromEntries(places) }));
    copyFileSync(join(shipped, 'tokenizer.json'), join(folder, 'tokenizer.json'));
    expect((await decode(folder, [3, 1, 4, 1, 5], 2)).digest).toBe((await decode(shipped, [3, 1, 4, 1, 5], 2)).digest);
  });
});

describe('an awkward checkpoint', () => {
  it('decodes finite, spread logits, and the prefill kernels continue where the decode kernels were', async () => {
    const folder = join(scratch, 'awkward');
    await synthCommand({ settings: {}, emit: () => undefined, print: () => undefined }, { config: 'awkward', seed: 1, out: folder });
    const vocab = 1003;
    const prompt = [1, 2, 3, 500, 1002, 77, 640, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22];
    const decoded = await decode(folder, prompt, 4);
    expect(decoded.rows).toHaveLength(4 * vocab);
    expect(decoded.rows.every(Number.isFinite)).toBe(true);
    expect(decoded.ids.every((id) => id < vocab)).toBe(true);
    const last = decoded.rows.subarray(3 * vocab);
    const deviation = Math.sqrt(last.reduce((sum, logit) => sum + logit * logit, 0) / vocab);
    expect(deviation).toBeGreaterThan(1);
    // The same position through a prefill alone: other kernels for the convolution, the recurrence and attention.
    const again = await decode(folder, [...prompt, ...decoded.ids.slice(0, 3)], 1);
    const worst = last.reduce((most, logit, id) => Math.max(most, Math.abs(logit - again.rows[id]!)), 0);
    expect(worst).toBeLessThan(1e-3);
    // Five query heads a key-value head, past the four of one workgroup of sdpa-split; the last keys lie in a second chunk.
    const chain = await decode(folder, prompt, 16, undefined, { ...plain, qmm: 'split', sdpa: 'split' });
    const fused = await decode(folder, prompt, 16, undefined, { ...plain, fusion: 'on' });
    expect([fused.ids, fused.digest]).toEqual([chain.ids, chain.digest]);
    expect(fused.ids.slice(0, 4)).toEqual(decoded.ids);
    const fixedChain = await decode(folder, prompt, 4, undefined, { ...plain, qmm: 'fixed', sdpa: 'split' });
    const fixed = await decode(folder, prompt, 4, undefined, { ...plain, fusion: 'fixed' });
    expect([fixed.ids, fixed.digest]).toEqual([fixedChain.ids, fixedChain.digest]);
    expect(fixed.ids).toEqual(decoded.ids);
  }, 600_000);
});
