/**
 * Matrices that are multiplied with the same input, laid out one after the other so that one launch makes all their outputs. Each member
 * starts at a multiple of 256 bytes of every tensor, so that it can also be bound alone; rows between members are zero.
 */
import type { ModelConfig } from './config.ts';
import type { QuantisedSpec } from './tensors.ts';

export interface JointSpec {
  readonly name: string;
  readonly members: readonly string[];
}

/** The joint matrices of a model, by layer. */
export function jointSpecs(config: ModelConfig): JointSpec[] {
  return config.layerTypes.flatMap((type, layer) => {
    const at = `model.layers.${layer}`;
    const mixer =
      type === 'full_attention'
        ? { name: `${at}.self_attn.qkv_proj`, members: ['q_proj', 'k_proj', 'v_proj'].map((name) => `${at}.self_attn.${name}`) }
        : { name: `${at}.linear_attn.in_proj`, members: ['qkv', 'z', 'a', 'b'].map((name) => `${at}.linear_attn.in_proj_${name}`) };
    return [mixer, { name: `${at}.mlp.gate_up_proj`, members: [`${at}.mlp.gate_proj`, `${at}.mlp.up_proj`] }];
  });
}

/** Where members start in a joint matrix, and how many rows it has. */
export interface JointLayout {
  readonly rows: number;
  readonly k: number;
  readonly starts: ReadonlyMap<string, number>;
}

const ALIGNMENT = 256;

/** @param members of one k, in order. */
export function jointLayout(members: readonly QuantisedSpec[]): JointLayout {
  const k = members[0]!.k;
  // A row of scales has k/32 bytes, one of codes sixteen times as many.
  const step = ALIGNMENT / gcd(ALIGNMENT, k / 32);
  const starts = new Map<string, number>();
  let rows = 0;
  for (const { name, n } of members) {
    rows = Math.ceil(rows / step) * step;
    starts.set(name, rows);
    rows += n;
  }
  return { rows, k, starts };
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
