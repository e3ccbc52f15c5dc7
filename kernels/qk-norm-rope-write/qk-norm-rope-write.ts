import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/**
 * One token. x is the joint projection of `width` elements: [query | gate] of each head from 0 on, keys and values [kvHeads·headDim] from
 * their offsets on. `context`: positions of table and caches.
 */
export type QkNormRopeWriteShape = {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly rotary: number;
  readonly context: number;
  readonly width: number;
  readonly kOffset: number;
  readonly vOffset: number;
  readonly eps: number;
};

const LANES = 256;
/** Lanes that add squares. */
const SUMMING = 64;
const MAX_ROTARY = 512;

const PARAMS: readonly ParamSpec[] = [
  { name: 'heads', type: 'u32' },
  { name: 'kvHeads', type: 'u32' },
  { name: 'context', type: 'u32' },
  { name: 'kOffset', type: 'u32' },
  { name: 'vOffset', type: 'u32' },
  { name: 'eps', type: 'f32' },
];

/** Queries normed and rotated, keys likewise and values put into the caches: the bits of qk-norm, rope and kv-write. `weight` [q_norm | k_norm]. */
export const qkNormRopeWrite: Kernel<QkNormRopeWriteShape> = {
  name: 'qk-norm-rope-write',
  group: 'fused',
  summary: 'q = rope(rmsnorm(x_q)·w_q); kCache[position] = rope(rmsnorm(x_k)·w_k); vCache[position] = x_v',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'weight', access: 'read', type: 'f32' },
    { name: 'table', access: 'read', type: 'f32' },
    { name: 'position', access: 'read', type: 'u32' },
    { name: 'q', access: 'read_write', type: 'f32' },
    { name: 'kCache', access: 'read_write', type: 'f32' },
    { name: 'vCache', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ heads, kvHeads, headDim, rotary, context, width }) => ({
    x: width,
    weight: 2 * headDim,
    table: context * rotary,
    position: 1,
    q: heads * headDim,
    kCache: context * kvHeads * headDim,
    vCache: context * kvHeads * headDim,
  }),
  launch: ({ heads, kvHeads, headDim, rotary, context, width, kOffset, vOffset, eps }, variant = 'default') => {
    refuseUnless(variant === 'default', 'qk-norm-rope-write', `has no variant ${variant}, only default`);
    refuseUnless(
      rotary % 2 === 0 && rotary <= headDim && rotary <= MAX_ROTARY,
      'qk-norm-rope-write',
      `needs an even rotary within the head, up to ${MAX_ROTARY}`,
    );
    const ends = [2 * heads * headDim, kOffset + kvHeads * headDim, vOffset + kvHeads * headDim];
    refuseUnless(Math.max(...ends) <= width, 'qk-norm-rope-write', `needs every part within the row of ${width}`);
    refuseUnless(heads + 2 * kvHeads <= MAX_WORKGROUPS, 'qk-norm-rope-write', `serves up to ${MAX_WORKGROUPS} heads in all`);
    return {
      kernel: 'qk-norm-rope-write',
      variant,
      entryPoint: 'main',
      constants: { HEAD_DIM: headDim, ROTARY: rotary },
      params: packParams(PARAMS, { heads, kvHeads, context, kOffset, vOffset, eps }),
      workgroups: [heads + 2 * kvHeads, 1, 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 4 * (SUMMING + MAX_ROTARY),
    };
  },
};
