import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** Rows are tokens, taken 16 at a time from row 0 on. Value head h uses key head floor(h · kHeads / vHeads). */
export type GdnChunkPrepareShape = {
  readonly rows: number;
  readonly kHeads: number;
  readonly vHeads: number;
  readonly dk: number;
};

/** Rows of a chunk, of which a workgroup takes one; lanes are a square of them. */
const ROWS = 16;
/** Bytes of two tiles of 16 × 17 quads and two squares of 16 × 16 floats. */
const WORKGROUP_BYTES = 2 * ROWS * 17 * 16 + 2 * ROWS * ROWS * 4;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'kHeads', type: 'u32' },
  { name: 'vHeads', type: 'u32' },
  { name: 'quads', type: 'u32' },
];

/** The part of the gated delta rule over chunks of rows that needs no state; gdn-prefill-chunked does the rest. */
export const gdnChunkPrepare: Kernel<GdnChunkPrepareShape> = {
  name: 'gdn-chunk-prepare',
  group: 'gdn',
  summary:
    'for each 16 rows: T = (I + L)⁻¹ with L_im = β_i·(k_i·k_m)·e^(g_(m+1) + … + g_i) for m < i, and P_im = (q_i·k_m)·e^(g_(m+1) + … + g_i) for m ≤ i; ' +
    'mixes [rows, vHeads, 2, 16] holds row i of T, then of P',
  bindings: [
    { name: 'q', access: 'read', type: 'f32' },
    { name: 'k', access: 'read', type: 'f32' },
    { name: 'g', access: 'read', type: 'f32' },
    { name: 'beta', access: 'read', type: 'f32' },
    { name: 'mixes', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, kHeads, vHeads, dk }) => ({
    q: rows * kHeads * dk,
    k: rows * kHeads * dk,
    g: rows * vHeads,
    beta: rows * vHeads,
    mixes: rows * vHeads * 2 * ROWS,
  }),
  launch: ({ rows, kHeads, vHeads, dk }, variant = 'default') => {
    refuseUnless(variant === 'default', 'gdn-chunk-prepare', `has no variant ${variant}, only default`);
    refuseUnless(rows >= 1, 'gdn-chunk-prepare', 'needs at least one row');
    refuseUnless(rows <= ROWS * MAX_WORKGROUPS, 'gdn-chunk-prepare', `serves at most ${ROWS * MAX_WORKGROUPS} rows`);
    refuseUnless(dk >= 4 && dk % 4 === 0, 'gdn-chunk-prepare', 'serves keys whose width is a multiple of 4');
    refuseUnless(kHeads <= vHeads && vHeads <= MAX_WORKGROUPS, 'gdn-chunk-prepare', `needs a value head a key head and at most ${MAX_WORKGROUPS} heads`);
    return {
      kernel: 'gdn-chunk-prepare',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, kHeads, vHeads, quads: dk / 4 }),
      workgroups: [Math.ceil(rows / ROWS), vHeads, 1],
      workgroupSize: [ROWS, ROWS, 1],
      workgroupBytes: WORKGROUP_BYTES,
    };
  },
};
