import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** `x` element = row*rowStride + head*headStride + i, so that queries are read in place from q_proj's [query | gate] heads. */
export type QkNormShape = {
  readonly rows: number;
  readonly heads: number;
  readonly headDim: number;
  readonly rowStride: number;
  readonly headStride: number;
  readonly eps: number;
};

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'heads', type: 'u32' },
  { name: 'headDim', type: 'u32' },
  { name: 'rowStride', type: 'u32' },
  { name: 'headStride', type: 'u32' },
  { name: 'eps', type: 'f32' },
];

/** RMS norm of each query or key head; `weight` is the plain weight of an MLX checkpoint (it already holds 1 + w). */
export const qkNorm: Kernel<QkNormShape> = {
  name: 'qk-norm',
  group: 'attention',
  summary: 'out[row,head,i] = x · 1/√(mean over the head of x² + eps) · weight[i]',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'weight', access: 'read', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  // Without what follows the last head, so that a part of a wider row can be bound from its own start.
  sizes: ({ rows, heads, headDim, rowStride, headStride }) => ({
    x: (rows - 1) * rowStride + (heads - 1) * headStride + headDim,
    weight: headDim,
    out: rows * heads * headDim,
  }),
  touched: ({ rows, heads, headDim }) => ({ x: rows * heads * headDim }),
  launch: ({ rows, heads, headDim, rowStride, headStride, eps }, variant = 'default') => {
    refuseUnless(variant === 'default', 'qk-norm', `has no variant ${variant}, only default`);
    refuseUnless(headStride >= headDim && rowStride >= (heads - 1) * headStride + headDim, 'qk-norm', 'heads must not overlap and must lie within their row');
    refuseUnless(rows <= MAX_WORKGROUPS && heads <= MAX_WORKGROUPS, 'qk-norm', `serves up to ${MAX_WORKGROUPS} rows and heads`);
    return {
      kernel: 'qk-norm',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, heads, headDim, rowStride, headStride, eps }),
      workgroups: [heads, rows, 1],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 256,
    };
  },
};
