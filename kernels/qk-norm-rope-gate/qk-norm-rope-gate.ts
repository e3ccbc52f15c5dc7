import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** Rows of `qg` start `qStride` apart and hold [query | gate] within each head; rows of `kProj` start `kStride` apart. `context` is the table's number of positions. */
export type QkNormRopeGateShape = {
  readonly rows: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly rotary: number;
  readonly context: number;
  readonly qStride: number;
  readonly kStride: number;
  readonly eps: number;
};

const LANES = 64;
/** What workgroup memory holds of a head. */
const MOST_ROTARY = 512;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'heads', type: 'u32' },
  { name: 'kvHeads', type: 'u32' },
  { name: 'headDim', type: 'u32' },
  { name: 'rotary', type: 'u32' },
  { name: 'context', type: 'u32' },
  { name: 'qStride', type: 'u32' },
  { name: 'kStride', type: 'u32' },
  { name: 'eps', type: 'f32' },
];

/**
 * qk-norm and rope of queries and keys and the split of the gates in one launch, with the bits of that chain. `weight` holds the
 * query norm's weights, then the key norm's: in one binding, since eight are what every WebGPU device has. `table` and `position`
 * are as rope takes them.
 */
export const qkNormRopeGate: Kernel<QkNormRopeGateShape> = {
  name: 'qk-norm-rope-gate',
  group: 'attention',
  summary: 'q = rope(norm(query)), k = rope(norm(key)), gate copied, with qg = [query | gate] within each head',
  bindings: [
    { name: 'qg', access: 'read', type: 'f32' },
    { name: 'kProj', access: 'read', type: 'f32' },
    { name: 'weight', access: 'read', type: 'f32' },
    { name: 'table', access: 'read', type: 'f32' },
    { name: 'position', access: 'read', type: 'u32' },
    { name: 'q', access: 'read_write', type: 'f32' },
    { name: 'k', access: 'read_write', type: 'f32' },
    { name: 'gate', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, heads, kvHeads, headDim, rotary, context, qStride, kStride }) => ({
    qg: rows * qStride,
    kProj: rows * kStride,
    weight: 2 * headDim,
    table: context * rotary,
    position: 1,
    q: rows * heads * headDim,
    k: rows * kvHeads * headDim,
    gate: rows * heads * headDim,
  }),
  launch: ({ rows, heads, kvHeads, headDim, rotary, context, qStride, kStride, eps }, variant = 'default') => {
    refuseUnless(variant === 'default', 'qk-norm-rope-gate', `has no variant ${variant}, only default`);
    refuseUnless(rotary % 2 === 0 && rotary <= headDim, 'qk-norm-rope-gate', 'rotary must be even and at most headDim');
    refuseUnless(rotary <= MOST_ROTARY, 'qk-norm-rope-gate', `rotates up to ${MOST_ROTARY} dimensions`);
    refuseUnless(qStride >= heads * 2 * headDim && kStride >= kvHeads * headDim, 'qk-norm-rope-gate', 'heads must lie within their row');
    refuseUnless(rows <= MAX_WORKGROUPS && heads + kvHeads <= MAX_WORKGROUPS, 'qk-norm-rope-gate', `serves up to ${MAX_WORKGROUPS} rows and heads`);
    return {
      kernel: 'qk-norm-rope-gate',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, heads, kvHeads, headDim, rotary, context, qStride, kStride, eps }),
      workgroups: [heads + kvHeads, rows, 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 4 * (LANES + MOST_ROTARY),
    };
  },
};
