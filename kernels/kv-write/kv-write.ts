import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** `context`: positions that the caches hold. `v` is read in place: element row·vStride + vOffset + i. */
export type KvWriteShape = {
  readonly rows: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly context: number;
  readonly vStride: number;
  readonly vOffset: number;
};

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'kvHeads', type: 'u32' },
  { name: 'headDim', type: 'u32' },
  { name: 'context', type: 'u32' },
  { name: 'vStride', type: 'u32' },
  { name: 'vOffset', type: 'u32' },
];

/** Copies new keys and values into the caches at rows position[0] …; everything else in the caches stays as it was. */
export const kvWrite: Kernel<KvWriteShape> = {
  name: 'kv-write',
  group: 'attention',
  summary: 'kCache[position+row] = k[row], vCache[position+row] = v[row]; rows past the context are dropped',
  bindings: [
    { name: 'k', access: 'read', type: 'f32' },
    { name: 'v', access: 'read', type: 'f32' },
    { name: 'position', access: 'read', type: 'u32' },
    { name: 'kCache', access: 'read_write', type: 'f32' },
    { name: 'vCache', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, kvHeads, headDim, context, vStride }) => ({
    k: rows * kvHeads * headDim,
    v: rows * vStride,
    position: 1,
    kCache: context * kvHeads * headDim,
    vCache: context * kvHeads * headDim,
  }),
  touched: ({ rows, kvHeads, headDim }) => ({
    v: rows * kvHeads * headDim,
    kCache: rows * kvHeads * headDim,
    vCache: rows * kvHeads * headDim,
  }),
  launch: ({ rows, kvHeads, headDim, context, vStride, vOffset }, variant = 'default') => {
    refuseUnless(variant === 'default', 'kv-write', `has no variant ${variant}, only default`);
    refuseUnless(vStride >= vOffset + kvHeads * headDim, 'kv-write', 'needs the values within a row');
    refuseUnless(rows <= MAX_WORKGROUPS, 'kv-write', `serves up to ${MAX_WORKGROUPS} rows`);
    return {
      kernel: 'kv-write',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, kvHeads, headDim, context, vStride, vOffset }),
      workgroups: [Math.ceil((kvHeads * headDim) / 64), rows, 1],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 0,
    };
  },
};
