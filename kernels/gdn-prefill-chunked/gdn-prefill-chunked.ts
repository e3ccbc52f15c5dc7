import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/**
 * Rows are tokens. `v` is read in place: element row*vStride + vOffset + head*dv + j. Value head h uses key head floor(h · kHeads / vHeads).
 * `mixes` is what gdn-chunk-prepare makes of the same q, k, g and β.
 */
export type GdnPrefillChunkedShape = {
  readonly rows: number;
  readonly kHeads: number;
  readonly vHeads: number;
  readonly dk: number;
  readonly dv: number;
  readonly vStride: number;
  readonly vOffset: number;
};

/** Rows of a chunk, state rows of a workgroup, lanes a dot, and the widest key whose rows fit workgroup memory. */
const ROWS = 16;
const COLUMNS = 8;
const HALVES = 2;
const MAX_DK = 128;
/** Bytes of the held state rows and the keys (33 quads each), the mixes, two arrays of rows by columns, and three rows of decays. */
const WORKGROUP_BYTES = (COLUMNS + ROWS) * 33 * 16 + 4 * (ROWS * 2 * ROWS + 2 * ROWS * COLUMNS + 3 * ROWS);

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'kHeads', type: 'u32' },
  { name: 'vHeads', type: 'u32' },
  { name: 'dv', type: 'u32' },
  { name: 'vStride', type: 'u32' },
  { name: 'vOffset', type: 'u32' },
];

/** The gated delta rule over a prompt, 16 rows a serial step. Its sums are not the token loop's: it has bounds of its own, and no bits in common. */
export const gdnPrefillChunked: Kernel<GdnPrefillChunkedShape> = {
  name: 'gdn-prefill-chunked',
  group: 'gdn',
  summary:
    'for each row: S ← e^g·S; δ = β·(v − S k); S ← S + δ kᵀ; out = S q, with S [vHeads, dv, dk], computed 16 rows at a time from the mixes of gdn-chunk-prepare',
  bindings: [
    { name: 'q', access: 'read', type: 'f32' },
    { name: 'k', access: 'read', type: 'f32' },
    { name: 'v', access: 'read', type: 'f32' },
    { name: 'g', access: 'read', type: 'f32' },
    { name: 'beta', access: 'read', type: 'f32' },
    { name: 'mixes', access: 'read', type: 'f32' },
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
    mixes: rows * vHeads * 2 * ROWS,
    state: vHeads * dv * dk,
    out: rows * vHeads * dv,
  }),
  launch: ({ rows, kHeads, vHeads, dk, dv, vStride, vOffset }, variant = 'default') => {
    refuseUnless(variant === 'default', 'gdn-prefill-chunked', `has no variant ${variant}, only default`);
    refuseUnless(rows >= 1, 'gdn-prefill-chunked', 'needs at least one row');
    refuseUnless(dk >= 4 && dk % 4 === 0 && dk <= MAX_DK, 'gdn-prefill-chunked', `serves keys up to ${MAX_DK} wide, in multiples of 4`);
    refuseUnless(vStride >= vOffset + vHeads * dv, 'gdn-prefill-chunked', 'values must lie within their row');
    refuseUnless(kHeads <= vHeads && vHeads <= MAX_WORKGROUPS, 'gdn-prefill-chunked', `needs a value head a key head and at most ${MAX_WORKGROUPS} heads`);
    return {
      kernel: 'gdn-prefill-chunked',
      variant,
      entryPoint: 'main',
      constants: { QUADS: dk / 4 },
      params: packParams(PARAMS, { rows, kHeads, vHeads, dv, vStride, vOffset }),
      workgroups: [Math.ceil(dv / COLUMNS), vHeads, 1],
      workgroupSize: [COLUMNS, ROWS, HALVES],
      workgroupBytes: WORKGROUP_BYTES,
    };
  },
};
