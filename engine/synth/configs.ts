/**
 * The text configs that `synth` makes checkpoints of, and the config.json around one. Sizes are `2b`'s (Qwen3.5-2B), a slice of its
 * layers, the shipped model's, and `awkward`: nothing a multiple of a comfortable tile but the quantisation group.
 */
const BASE = {
  model_type: 'qwen3_5_text',
  attn_output_gate: true,
  attention_bias: false,
  hidden_act: 'silu',
  rms_norm_eps: 1e-6,
  max_position_embeddings: 32768,
  linear_conv_kernel_dim: 4,
  full_attention_interval: 4,
  tie_word_embeddings: true,
  eos_token_id: 0,
  mamba_ssm_dtype: 'float32',
  partial_rotary_factor: 0.25,
};

const TWO_B = {
  vocab_size: 248320,
  hidden_size: 2048,
  intermediate_size: 6144,
  num_hidden_layers: 24,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  head_dim: 256,
  linear_num_key_heads: 16,
  linear_num_value_heads: 16,
  linear_key_head_dim: 128,
  linear_value_head_dim: 128,
};

const SIZES = {
  tiny: {
    vocab_size: 2048,
    hidden_size: 256,
    intermediate_size: 768,
    num_hidden_layers: 8,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 64,
    linear_num_key_heads: 2,
    linear_num_value_heads: 4,
    linear_key_head_dim: 64,
    linear_value_head_dim: 64,
  },
  '2b': TWO_B,
  '2b-slice': { ...TWO_B, vocab_size: 4096, num_hidden_layers: 4 },
  awkward: {
    vocab_size: 1003,
    hidden_size: 320,
    intermediate_size: 832,
    num_hidden_layers: 4,
    num_attention_heads: 5,
    num_key_value_heads: 1,
    head_dim: 64,
    linear_num_key_heads: 3,
    linear_num_value_heads: 6,
    linear_key_head_dim: 64,
    linear_value_head_dim: 32,
  },
} as const;

export type SynthName = keyof typeof SIZES;

/** The names that `--config` takes. */
export const SYNTH_NAMES = Object.keys(SIZES) as SynthName[];

/** The config.json of a named config, as mlx-lm writes it for a 4-bit conversion. */
export function configJson(name: SynthName): object {
  const sizes = SIZES[name];
  const quantization = { group_size: 64, bits: 4, mode: 'affine' };
  return {
    architectures: ['Qwen3_5ForConditionalGeneration'],
    model_type: 'qwen3_5',
    text_config: {
      ...BASE,
      ...sizes,
      layer_types: Array.from({ length: sizes.num_hidden_layers }, (_, layer) => (layer % 4 === 3 ? 'full_attention' : 'linear_attention')),
      rope_parameters: { rope_type: 'default', rope_theta: 10000000, partial_rotary_factor: 0.25 },
    },
    tie_word_embeddings: true,
    quantization,
    quantization_config: quantization,
  };
}
