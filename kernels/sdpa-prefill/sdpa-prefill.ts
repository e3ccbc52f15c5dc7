import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** `context`: positions that the caches hold. Head h uses key-value head floor(h · kvHeads / heads). */
export type SdpaPrefillShape = {
  readonly rows: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly context: number;
};

/** Query rows of one tile, and the widest heads: 64 lanes own four dimensions each, or eight. */
const ROWS = 32;
const NARROW = 256;
const LANES = 256;
const MAX_HEAD_DIM = 512;
/** Slabs of queries and keys, weights and what shrinks sums. */
const WORKGROUP_BYTES = 288 * 16 + 1056 * 4 + 288 * 16 + 8 * 16;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'heads', type: 'u32' },
  { name: 'kvHeads', type: 'u32' },
  { name: 'headDim', type: 'u32' },
  { name: 'context', type: 'u32' },
  { name: 'scale', type: 'f32' },
];

/** Causal attention of a chunk of rows: row r attends cache positions 0 … position[0]+r, scaled by headDim^-0.5. */
export const sdpaPrefill: Kernel<SdpaPrefillShape> = {
  name: 'sdpa-prefill',
  group: 'attention',
  summary: 'out[r,h] = Σ_j softmax_j(q[r,h]·k[j] · headDim^-0.5) · v[j] over j ≤ position + r',
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
    refuseUnless(variant === 'default', 'sdpa-prefill', `has no variant ${variant}, only default`);
    refuseUnless(headDim <= MAX_HEAD_DIM, 'sdpa-prefill', `serves heads up to ${MAX_HEAD_DIM} wide`);
    refuseUnless(kvHeads <= heads, 'sdpa-prefill', 'needs at least one query head a key-value head');
    refuseUnless(heads <= MAX_WORKGROUPS && rows <= MAX_WORKGROUPS * ROWS, 'sdpa-prefill', `serves up to ${MAX_WORKGROUPS} heads and tiles of ${ROWS} rows`);
    return {
      kernel: 'sdpa-prefill',
      variant,
      entryPoint: 'main',
      constants: { WIDE: headDim > NARROW ? 1 : 0 },
      params: packParams(PARAMS, { rows, heads, kvHeads, headDim, context, scale: headDim ** -0.5 }),
      workgroups: [heads, Math.ceil(rows / ROWS), 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: WORKGROUP_BYTES,
    };
  },
};
