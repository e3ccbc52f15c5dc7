import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** `rows` is 1. `context`: positions that the caches hold. Head h uses key-value head floor(h · kvHeads / heads). */
export type SdpaDecodeShape = {
  readonly rows: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly context: number;
};

const LANES = 256;
const MAX_HEAD_DIM = 1024;

const PARAMS: readonly ParamSpec[] = [
  { name: 'heads', type: 'u32' },
  { name: 'kvHeads', type: 'u32' },
  { name: 'context', type: 'u32' },
  { name: 'scale', type: 'f32' },
];

/** Attention of one new token over cache positions 0 … position[0], keys split over the lanes of one workgroup a head. */
export const sdpaDecode: Kernel<SdpaDecodeShape> = {
  name: 'sdpa-decode',
  group: 'attention',
  summary: 'out[h] = Σ_j softmax_j(q[h]·k[j] · headDim^-0.5) · v[j] over j ≤ position',
  bindings: [
    { name: 'q', access: 'read', type: 'f32' },
    { name: 'kCache', access: 'read', type: 'f32' },
    { name: 'vCache', access: 'read', type: 'f32' },
    { name: 'position', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, heads, kvHeads, headDim, context }) => ({
    q: rows * heads * headDim,
    kCache: context * kvHeads * headDim,
    vCache: context * kvHeads * headDim,
    position: 1,
    out: rows * heads * headDim,
  }),
  launch: ({ rows, heads, kvHeads, headDim, context }, variant = 'default') => {
    refuseUnless(variant === 'default', 'sdpa-decode', `has no variant ${variant}, only default`);
    refuseUnless(rows === 1, 'sdpa-decode', 'serves one row (sdpa-prefill serves more)');
    refuseUnless(headDim <= MAX_HEAD_DIM, 'sdpa-decode', `serves heads up to ${MAX_HEAD_DIM} wide`);
    refuseUnless(kvHeads <= heads && heads <= MAX_WORKGROUPS, 'sdpa-decode', `needs a query head a key-value head and at most ${MAX_WORKGROUPS} heads`);
    return {
      kernel: 'sdpa-decode',
      variant,
      entryPoint: 'main',
      constants: { HEAD_DIM: headDim },
      params: packParams(PARAMS, { heads, kvHeads, context, scale: headDim ** -0.5 }),
      workgroups: [heads, 1, 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 4 * (headDim + 2 * LANES + 16),
    };
  },
};
