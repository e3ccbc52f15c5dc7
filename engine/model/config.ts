/** config.json of a Qwen3.5 text model in an MLX 4-bit checkpoint: what decoding needs, checked once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { EngineRefused } from '../errors.ts';
import { foreignPart } from './foreign.ts';

const count = z.int().positive();

const textConfig = z.object({
  model_type: z.enum(['qwen3_5_text', 'qwen3_5']),
  vocab_size: count,
  hidden_size: count.multipleOf(64),
  intermediate_size: count.multipleOf(64),
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count,
  head_dim: count.multipleOf(2),
  linear_num_key_heads: count,
  linear_num_value_heads: count,
  linear_key_head_dim: count,
  linear_value_head_dim: count,
  linear_conv_kernel_dim: count.min(2),
  full_attention_interval: count.optional(),
  layer_types: z.array(z.enum(['linear_attention', 'full_attention'])).optional(),
  attn_output_gate: z.literal(true),
  attention_bias: z.literal(false).optional(),
  hidden_act: z.literal('silu'),
  rms_norm_eps: z.number().positive(),
  max_position_embeddings: count,
  partial_rotary_factor: z.number().positive().max(1).optional(),
  rope_theta: z.number().positive().optional(),
  rope_parameters: z
    .object({ rope_type: z.literal('default').optional(), rope_theta: z.number().positive(), partial_rotary_factor: z.number().positive().max(1).optional() })
    .optional(),
  tie_word_embeddings: z.boolean().optional(),
});

const served = z.object({ group_size: z.literal(64), bits: z.literal(4), mode: z.literal('affine').optional() });

/** Beside these fields, mlx-lm puts what differs by module: MODULE: {bits, …}, or MODULE: false where it is not quantised. */
const quantisation = served.catchall(z.unknown());

const file = z.object({ text_config: textConfig, tie_word_embeddings: z.boolean().optional(), quantization: quantisation });

export type LayerType = 'linear_attention' | 'full_attention';

/** Sizes of the model. `gdn*` are the Gated DeltaNet's. */
export interface ModelConfig {
  readonly vocab: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly layerTypes: readonly LayerType[];
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Dimensions of a head that are rotated. */
  readonly rotary: number;
  readonly ropeTheta: number;
  readonly gdnKeyHeads: number;
  readonly gdnValueHeads: number;
  readonly gdnKeyDim: number;
  readonly gdnValueDim: number;
  /** Channels of the convolution: [q | k | v]. */
  readonly convChannels: number;
  readonly convTaps: number;
  readonly eps: number;
  readonly maxPositions: number;
  /** Whether the head is the embedding table; else it is the matrix `lm_head`. */
  readonly tiedHead: boolean;
}

/**
 * Reads MODEL/config.json.
 * @throws EngineRefused naming the field that is missing or that this engine does not serve.
 */
export function readConfig(folder: string): ModelConfig {
  const path = join(folder, 'config.json');
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new EngineRefused(
      `the model's ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      'name the model’s folder with --model',
      { cause },
    );
  }
  return parseConfig(path, json);
}

/**
 * The sizes in a config.json's contents.
 * @param path what to call it in a refusal.
 * @throws as `readConfig`.
 */
export function parseConfig(path: string, json: unknown): ModelConfig {
  const parsed = file.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw unserved(path, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'malformed'}`);
  }
  const text = parsed.data.text_config;
  checkOverrides(path, parsed.data.quantization);
  const theta = text.rope_parameters?.rope_theta ?? text.rope_theta;
  if (theta === undefined) throw unserved(path, 'text_config.rope_parameters.rope_theta is missing');
  const rotary = text.head_dim * (text.rope_parameters?.partial_rotary_factor ?? text.partial_rotary_factor ?? 1);
  if (!Number.isInteger(rotary / 2)) throw unserved(path, `text_config.partial_rotary_factor: ${rotary} rotated dimensions are no even number`);
  if (text.num_attention_heads % text.num_key_value_heads !== 0) throw unserved(path, 'text_config.num_key_value_heads does not divide num_attention_heads');
  if (text.linear_num_value_heads % text.linear_num_key_heads !== 0)
    throw unserved(path, 'text_config.linear_num_key_heads does not divide linear_num_value_heads');
  const widths = [text.num_attention_heads * text.head_dim, text.linear_num_value_heads * text.linear_value_head_dim];
  if (widths.some((width) => width % 64 !== 0))
    throw unserved(path, `text_config: a projection's input width (${widths.join(', ')}) is no multiple of the group of 64`);
  return {
    vocab: text.vocab_size,
    hidden: text.hidden_size,
    intermediate: text.intermediate_size,
    layerTypes: layerTypesOf(path, text),
    heads: text.num_attention_heads,
    kvHeads: text.num_key_value_heads,
    headDim: text.head_dim,
    rotary,
    ropeTheta: theta,
    gdnKeyHeads: text.linear_num_key_heads,
    gdnValueHeads: text.linear_num_value_heads,
    gdnKeyDim: text.linear_key_head_dim,
    gdnValueDim: text.linear_value_head_dim,
    convChannels: 2 * text.linear_num_key_heads * text.linear_key_head_dim + text.linear_num_value_heads * text.linear_value_head_dim,
    convTaps: text.linear_conv_kernel_dim,
    eps: text.rms_norm_eps,
    maxPositions: text.max_position_embeddings,
    tiedHead: text.tie_word_embeddings ?? parsed.data.tie_word_embeddings ?? false,
  };
}

/** @throws EngineRefused naming the first module of the text model that is quantised in another way, or not at all. */
function checkOverrides(path: string, { group_size: _group, bits: _bits, mode: _mode, ...overrides }: z.infer<typeof quantisation>): void {
  for (const [module, value] of Object.entries(overrides)) {
    if (value === true || foreignPart(module) || served.safeParse(value).success) continue;
    const found = z.object({ bits: z.int() }).safeParse(value);
    const how = found.success && found.data.bits !== 4 ? `has ${found.data.bits} bits` : `is ${JSON.stringify(value)}`;
    throw unserved(path, `quantization.${module} ${how}, and every matrix must have 4 bits, group 64`);
  }
}

function layerTypesOf(path: string, text: z.infer<typeof textConfig>): LayerType[] {
  const { layer_types: listed, full_attention_interval: interval, num_hidden_layers: layers } = text;
  if (listed && listed.length !== layers) throw unserved(path, `text_config.layer_types has ${listed.length} entries for ${layers} layers`);
  if (listed) return listed;
  if (interval === undefined) throw unserved(path, 'text_config needs layer_types or full_attention_interval');
  return Array.from({ length: layers }, (_, layer) => ((layer + 1) % interval === 0 ? 'full_attention' : 'linear_attention'));
}

function unserved(path: string, what: string): EngineRefused {
  return new EngineRefused(`the model's ${path} is not served: ${what}`, 'use a Qwen3.5 text model in an MLX checkpoint of 4 bits, group 64');
}
