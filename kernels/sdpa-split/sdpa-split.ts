import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** One token's queries [heads, headDim] over caches of `context` positions. Head h uses key-value head floor(h · kvHeads / heads). */
export type SdpaSplitShape = { readonly heads: number; readonly kvHeads: number; readonly headDim: number; readonly context: number };

/** Keys of one workgroup. */
export const CHUNK_KEYS = 32;

const LANES = 256;
/** Query heads of one workgroup, all of one key-value head. */
const HEADS = 4;
const WIDTHS: readonly number[] = [64, 128, 256];

const PARAMS: readonly ParamSpec[] = [
  { name: 'kvHeads', type: 'u32' },
  { name: 'group', type: 'u32' },
  { name: 'context', type: 'u32' },
  { name: 'chunks', type: 'u32' },
  { name: 'scale', type: 'f32' },
];

/** Whether sdpa-split serves heads of these sizes; where not, sdpa-decode does. */
export function sdpaSplitServes({ heads, kvHeads, headDim }: Pick<SdpaSplitShape, 'heads' | 'kvHeads' | 'headDim'>): boolean {
  return Number.isInteger(heads / kvHeads) && WIDTHS.includes(headDim);
}

/**
 * Attention of one token over cache positions 0 … position[0], as partial sums by chunk of 32 keys: `sums` f32 [heads, chunks, headDim] of
 * exp(score − m)·v, `stats` f32 [heads, chunks, 2] of m, the chunk's largest score, and Σ exp(score − m). Chunks past the position are left alone.
 */
export const sdpaSplit: Kernel<SdpaSplitShape> = {
  name: 'sdpa-split',
  group: 'attention',
  summary: 'per head and chunk of 32 keys: m = max s_j, l = Σ exp(s_j − m), Σ exp(s_j − m)·v[j] with s_j = q·k[j] · headDim^-0.5',
  bindings: [
    { name: 'q', access: 'read', type: 'f32' },
    { name: 'kCache', access: 'read', type: 'f32' },
    { name: 'vCache', access: 'read', type: 'f32' },
    { name: 'position', access: 'read', type: 'u32' },
    { name: 'sums', access: 'read_write', type: 'f32' },
    { name: 'stats', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ heads, kvHeads, headDim, context }) => {
    const chunks = Math.ceil(context / CHUNK_KEYS);
    const cache = context * kvHeads * headDim;
    return { q: heads * headDim, kCache: cache, vCache: cache, position: 1, sums: heads * chunks * headDim, stats: heads * chunks * 2 };
  },
  launch: (shape, variant = 'default') => {
    const { heads, kvHeads, headDim, context } = shape;
    refuseUnless(variant === 'default', 'sdpa-split', `has no variant ${variant}, only default`);
    refuseUnless(sdpaSplitServes(shape), 'sdpa-split', `serves heads ${WIDTHS.join(', ')} wide in whole groups of query heads`);
    const chunks = Math.ceil(context / CHUNK_KEYS);
    refuseUnless(chunks <= MAX_WORKGROUPS && heads <= MAX_WORKGROUPS, 'sdpa-split', `serves up to ${MAX_WORKGROUPS} chunks and heads`);
    return {
      kernel: 'sdpa-split',
      variant,
      entryPoint: 'main',
      constants: { HEAD_DIM: headDim },
      params: packParams(PARAMS, { kvHeads, group: heads / kvHeads, context, chunks, scale: headDim ** -0.5 }),
      workgroups: [chunks, kvHeads, Math.ceil(heads / kvHeads / HEADS)],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 16 * (256 + 256 + 32),
    };
  },
};
