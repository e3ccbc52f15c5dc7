import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** `rotary` dimensions of each head are rotated; `context` is the table's number of positions. */
export type RopeShape = {
  readonly rows: number;
  readonly heads: number;
  readonly headDim: number;
  readonly rotary: number;
  readonly context: number;
};

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'heads', type: 'u32' },
  { name: 'headDim', type: 'u32' },
  { name: 'rotary', type: 'u32' },
  { name: 'context', type: 'u32' },
];

/**
 * Rotary embedding of the first `rotary` dimensions, half-split pairs (i, i + rotary/2); the rest is copied. `table` holds per
 * position cos[rotary/2] then sin[rotary/2]: the host computes it in float64, since WGSL bounds cos and sin on [−π, π] only.
 * `position[0]` is the absolute position of row 0.
 */
export const rope: Kernel<RopeShape> = {
  name: 'rope',
  group: 'attention',
  summary: 'out[i] = x[i]·cos − x[i+r/2]·sin, out[i+r/2] = x[i+r/2]·cos + x[i]·sin for i < r/2; out[i] = x[i] for i ≥ r',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'table', access: 'read', type: 'f32' },
    { name: 'position', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, heads, headDim, rotary, context }) => ({
    x: rows * heads * headDim,
    table: context * rotary,
    position: 1,
    out: rows * heads * headDim,
  }),
  launch: ({ rows, heads, headDim, rotary, context }, variant = 'default') => {
    refuseUnless(variant === 'default', 'rope', `has no variant ${variant}, only default`);
    refuseUnless(rotary % 2 === 0 && rotary <= headDim, 'rope', 'rotary must be even and at most headDim');
    refuseUnless(rows <= MAX_WORKGROUPS && heads <= MAX_WORKGROUPS, 'rope', `serves up to ${MAX_WORKGROUPS} rows and heads`);
    return {
      kernel: 'rope',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, heads, headDim, rotary, context }),
      workgroups: [Math.ceil(headDim / 64), heads, rows],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 0,
    };
  },
};
