import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** `rows` is 1. `v` is read in place: element row*vStride + vOffset + head*dv + j. Value head h uses key head floor(h · kHeads / vHeads). */
export type GdnDecodeShape = {
  readonly rows: number;
  readonly kHeads: number;
  readonly vHeads: number;
  readonly dk: number;
  readonly dv: number;
  readonly vStride: number;
  readonly vOffset: number;
};

/** 8 lanes a state row, 8 rows a workgroup, and the widest key that a lane's registers hold. */
const LANES = 8;
const COLUMNS = 8;
const MAX_DK = 256;

const PARAMS: readonly ParamSpec[] = [
  { name: 'kHeads', type: 'u32' },
  { name: 'vHeads', type: 'u32' },
  { name: 'dv', type: 'u32' },
  { name: 'vOffset', type: 'u32' },
];

/** One token of the gated delta rule. */
export const gdnDecode: Kernel<GdnDecodeShape> = {
  name: 'gdn-decode',
  group: 'gdn',
  summary: 'S ← e^g·S; δ = β·(v − S k); S ← S + δ kᵀ; out = S q, with S [vHeads, dv, dk]',
  bindings: [
    { name: 'q', access: 'read', type: 'f32' },
    { name: 'k', access: 'read', type: 'f32' },
    { name: 'v', access: 'read', type: 'f32' },
    { name: 'g', access: 'read', type: 'f32' },
    { name: 'beta', access: 'read', type: 'f32' },
    { name: 'state', access: 'read_write', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, kHeads, vHeads, dk, dv, vStride }) => ({
    q: rows * kHeads * dk,
    k: rows * kHeads * dk,
    v: rows * vStride,
    g: rows * vHeads,
    beta: rows * vHeads,
    state: vHeads * dv * dk,
    out: rows * vHeads * dv,
  }),
  launch: ({ rows, kHeads, vHeads, dk, dv, vStride, vOffset }, variant = 'default') => {
    refuseUnless(variant === 'default', 'gdn-decode', `has no variant ${variant}, only default`);
    refuseUnless(rows === 1, 'gdn-decode', 'serves one row (gdn-prefill serves more)');
    refuseUnless(dk <= MAX_DK, 'gdn-decode', `serves keys up to ${MAX_DK} wide`);
    refuseUnless(vStride >= vOffset + vHeads * dv, 'gdn-decode', 'values must lie within their row');
    refuseUnless(kHeads <= vHeads && vHeads <= MAX_WORKGROUPS, 'gdn-decode', `needs a value head a key head and at most ${MAX_WORKGROUPS} heads`);
    return {
      kernel: 'gdn-decode',
      variant,
      entryPoint: 'main',
      constants: { DK: dk },
      params: packParams(PARAMS, { kHeads, vHeads, dv, vOffset }),
      workgroups: [Math.ceil(dv / COLUMNS), vHeads, 1],
      workgroupSize: [LANES, COLUMNS, 1],
      workgroupBytes: 4 * 2 * LANES * COLUMNS,
    };
  },
};
