/** Which tensors a model of a given config has, and whether a checkpoint holds exactly those. */
import { EngineRefused } from '../errors.ts';
import type { ModelConfig } from './config.ts';
import { foreignPart, type ForeignPart } from './foreign.ts';
import type { Dtype, TensorEntry } from './safetensors.ts';

const PREFIX = 'language_model.';
const GROUP = 64;

/** A 4-bit matrix W [n, k]: tensors NAME.weight, NAME.scales, NAME.biases. */
export interface QuantisedSpec {
  readonly form: 'quantised';
  readonly name: string;
  readonly n: number;
  readonly k: number;
}

/** A tensor that is used as float32; `name` is the tensor's own. */
export interface VectorSpec {
  readonly form: 'vector';
  readonly name: string;
  readonly shape: readonly number[];
}

export type WeightSpec = QuantisedSpec | VectorSpec;

/** Every weight of the model, by its name without the `language_model.` prefix. */
export function weightSpecs(config: ModelConfig): WeightSpec[] {
  const { hidden, intermediate } = config;
  const matrix = (name: string, n: number, k: number): QuantisedSpec => ({ form: 'quantised', name, n, k });
  const vector = (name: string, ...shape: number[]): VectorSpec => ({ form: 'vector', name, shape });
  const valueWidth = config.gdnValueHeads * config.gdnValueDim;
  const specs: WeightSpec[] = [matrix('model.embed_tokens', config.vocab, hidden), vector('model.norm.weight', hidden)];
  if (!config.tiedHead) specs.push(matrix('lm_head', config.vocab, hidden));
  for (const [layer, type] of config.layerTypes.entries()) {
    const at = `model.layers.${layer}`;
    specs.push(vector(`${at}.input_layernorm.weight`, hidden), vector(`${at}.post_attention_layernorm.weight`, hidden));
    specs.push(matrix(`${at}.mlp.gate_proj`, intermediate, hidden), matrix(`${at}.mlp.up_proj`, intermediate, hidden));
    specs.push(matrix(`${at}.mlp.down_proj`, hidden, intermediate));
    if (type === 'full_attention') {
      const width = config.heads * config.headDim;
      specs.push(
        matrix(`${at}.self_attn.q_proj`, 2 * width, hidden),
        matrix(`${at}.self_attn.k_proj`, config.kvHeads * config.headDim, hidden),
        matrix(`${at}.self_attn.v_proj`, config.kvHeads * config.headDim, hidden),
        matrix(`${at}.self_attn.o_proj`, hidden, width),
        vector(`${at}.self_attn.q_norm.weight`, config.headDim),
        vector(`${at}.self_attn.k_norm.weight`, config.headDim),
      );
    } else {
      specs.push(
        matrix(`${at}.linear_attn.in_proj_qkv`, config.convChannels, hidden),
        matrix(`${at}.linear_attn.in_proj_z`, valueWidth, hidden),
        matrix(`${at}.linear_attn.in_proj_a`, config.gdnValueHeads, hidden),
        matrix(`${at}.linear_attn.in_proj_b`, config.gdnValueHeads, hidden),
        matrix(`${at}.linear_attn.out_proj`, hidden, valueWidth),
        vector(`${at}.linear_attn.conv1d.weight`, config.convChannels, config.convTaps, 1),
        vector(`${at}.linear_attn.A_log`, config.gdnValueHeads),
        vector(`${at}.linear_attn.dt_bias`, config.gdnValueHeads),
        vector(`${at}.linear_attn.norm.weight`, config.gdnValueDim),
      );
    }
  }
  return specs;
}

/** Vectors that one binding holds one after the other, by layer: what a fused kernel reads where a binding each would be too many. */
export function vectorPairs(config: ModelConfig): { name: string; members: readonly string[] }[] {
  return config.layerTypes.map((type, layer) => {
    const at = `model.layers.${layer}`;
    return type === 'full_attention'
      ? { name: `${at}.self_attn.qk_norm`, members: [`${at}.self_attn.q_norm.weight`, `${at}.self_attn.k_norm.weight`] }
      : { name: `${at}.linear_attn.gates`, members: [`${at}.linear_attn.A_log`, `${at}.linear_attn.dt_bias`] };
  });
}

/** The tensors of a weight, with the dtypes and shapes that are served. */
export function tensorsOf(spec: WeightSpec): { name: string; dtypes: readonly Dtype[]; shape: readonly number[] }[] {
  if (spec.form === 'vector') return [{ name: PREFIX + spec.name, dtypes: ['BF16', 'F32'], shape: spec.shape }];
  const groups = [spec.n, spec.k / GROUP];
  return [
    { name: `${PREFIX}${spec.name}.weight`, dtypes: ['U32'], shape: [spec.n, spec.k / 8] },
    { name: `${PREFIX}${spec.name}.scales`, dtypes: ['BF16'], shape: groups },
    { name: `${PREFIX}${spec.name}.biases`, dtypes: ['BF16'], shape: groups },
  ];
}

/**
 * Holds a checkpoint to the config.
 * @returns how many tensors of which other part it holds beside the text model's.
 * @throws EngineRefused naming the first tensor that is missing, misshaped, of another dtype, unconverted, or not expected.
 */
export function checkTensors(folder: string, config: ModelConfig, tensors: ReadonlyMap<string, TensorEntry>): Map<ForeignPart, number> {
  const refuse = (what: string): EngineRefused =>
    new EngineRefused(`the checkpoint in ${folder} does not fit its config.json: ${what}`, 'use a whole MLX checkpoint of 4 bits, group 64');
  checkConverted(folder, config, tensors);
  const expected = new Set<string>();
  for (const spec of weightSpecs(config)) {
    for (const { name, dtypes, shape } of tensorsOf(spec)) {
      expected.add(name);
      const found = tensors.get(name);
      if (!found) throw refuse(`tensor ${name} is missing`);
      if (!dtypes.includes(found.dtype)) throw refuse(`tensor ${name} is ${found.dtype}, not ${dtypes.join(' or ')}`);
      if (found.shape.join() !== shape.join()) throw refuse(`tensor ${name} has shape [${found.shape.join(', ')}], not [${shape.join(', ')}]`);
    }
  }
  const ignored = new Map<ForeignPart, number>();
  for (const name of tensors.keys()) {
    if (expected.has(name)) continue;
    const part = foreignPart(name);
    if (!part) throw refuse(`tensor ${name} is not expected`);
    ignored.set(part, (ignored.get(part) ?? 0) + 1);
  }
  return ignored;
}

/**
 * Norm weights look alike whether or not the 1 of (1 + w) was added, so that what tells is what conversion does beside it: it renames
 * every tensor and turns conv1d.weight from [channels, 1, taps] into [channels, taps, 1].
 */
function checkConverted(folder: string, config: ModelConfig, tensors: ReadonlyMap<string, TensorEntry>): void {
  const unconverted = (what: string): EngineRefused =>
    new EngineRefused(
      `the checkpoint in ${folder} is not converted: ${what}, as Hugging Face transformers has it, so its norms lack the 1 that MLX adds`,
      'convert it with mlx_lm.convert --quantize',
    );
  for (const { name, shape } of tensors.values()) {
    if (name.startsWith('model.language_model.')) throw unconverted(`a tensor is called ${name}`);
    const transposed = `${config.convChannels},1,${config.convTaps}`;
    if (name.endsWith('.linear_attn.conv1d.weight') && shape.join() === transposed && !foreignPart(name))
      throw unconverted(`tensor ${name} has shape [${shape.join(', ')}]`);
  }
}
