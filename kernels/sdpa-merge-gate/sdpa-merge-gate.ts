import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';
import { CHUNK_KEYS } from '../sdpa-split/sdpa-split.ts';

/** `sums` and `stats` as sdpa-split leaves them; `qg` [query | gate] of each head; out [heads, headDim]. */
export type SdpaMergeGateShape = { readonly heads: number; readonly headDim: number; readonly context: number };

const LANES = 64;

const PARAMS: readonly ParamSpec[] = [
  { name: 'heads', type: 'u32' },
  { name: 'headDim', type: 'u32' },
  { name: 'context', type: 'u32' },
  { name: 'chunks', type: 'u32' },
];

/** Merges the chunks of one token's attention and applies the output gate. */
export const sdpaMergeGate: Kernel<SdpaMergeGateShape> = {
  name: 'sdpa-merge-gate',
  group: 'attention',
  summary: 'out[h] = Σ_c e_c·sums[h, c] / Σ_c e_c·l[h, c] · sigmoid(gate[h]) with e_c = exp(m[h, c] − max_c m)',
  bindings: [
    { name: 'sums', access: 'read', type: 'f32' },
    { name: 'stats', access: 'read', type: 'f32' },
    { name: 'qg', access: 'read', type: 'f32' },
    { name: 'position', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['sigmoid'],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ heads, headDim, context }) => {
    const chunks = Math.ceil(context / CHUNK_KEYS);
    return { sums: heads * chunks * headDim, stats: heads * chunks * 2, qg: 2 * heads * headDim, position: 1, out: heads * headDim };
  },
  launch: ({ heads, headDim, context }, variant = 'default') => {
    refuseUnless(variant === 'default', 'sdpa-merge-gate', `has no variant ${variant}, only default`);
    refuseUnless(heads <= MAX_WORKGROUPS, 'sdpa-merge-gate', `serves up to ${MAX_WORKGROUPS} heads`);
    return {
      kernel: 'sdpa-merge-gate',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { heads, headDim, context, chunks: Math.ceil(context / CHUNK_KEYS) }),
      workgroups: [Math.ceil(headDim / LANES), heads, 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 3 * LANES * 4,
    };
  },
};
