import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/**
 * One row is one value head of one token: rows = tokens · heads, n = dv. `z` is read in place: element token·zStride + zOffset + head·n + i.
 */
export type GatedRmsNormShape = {
  readonly rows: number;
  readonly n: number;
  readonly heads: number;
  readonly zStride: number;
  readonly zOffset: number;
  readonly eps: number;
};

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'n', type: 'u32' },
  { name: 'heads', type: 'u32' },
  { name: 'zStride', type: 'u32' },
  { name: 'zOffset', type: 'u32' },
  { name: 'eps', type: 'f32' },
];

/** The gated delta net's output norm: normalise first, then gate by silu(z), all in float32; `weight` is plain. */
export const gatedRmsNorm: Kernel<GatedRmsNormShape> = {
  name: 'gated-rms-norm',
  group: 'gdn',
  summary: 'out = x · 1/√(mean x² + eps) · weight · silu(z), each row by itself',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'z', access: 'read', type: 'f32' },
    { name: 'weight', access: 'read', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['sigmoid'],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, n, heads, zStride }) => ({ x: rows * n, z: (rows / heads) * zStride, weight: n, out: rows * n }),
  touched: ({ rows, n }) => ({ z: rows * n }),
  launch: ({ rows, n, heads, zStride, zOffset, eps }, variant = 'default') => {
    refuseUnless(variant === 'default', 'gated-rms-norm', `has no variant ${variant}, only default`);
    refuseUnless(rows % heads === 0, 'gated-rms-norm', `needs all ${heads} heads of each token; got ${rows} rows`);
    refuseUnless(zStride >= zOffset + heads * n, 'gated-rms-norm', 'needs the gates within a row');
    refuseUnless(rows <= MAX_WORKGROUPS, 'gated-rms-norm', `serves up to ${MAX_WORKGROUPS} rows`);
    return {
      kernel: 'gated-rms-norm',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, n, heads, zStride, zOffset, eps }),
      workgroups: [rows, 1, 1],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 256,
    };
  },
};
