import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { refuseUnless } from '../shared/refuse-unless.ts';
import { inBlocks, NORM_STAGE_BYTES, outputsOf, SPLIT_BYTES, SPLIT_INCLUDES, SPLIT_LANES, SPLIT_VARIANTS, splitConstants } from '../shared/split-k.ts';

/** One row: x and norm [k], out [n]. W [upRow + n, k] holds gate's rows from 0 on and up's from `upRow` ≥ n on. */
export type NormGateUpQ4Shape = Readonly<{ n: number; k: number; upRow: number; eps: number }>;

const PARAMS: readonly ParamSpec[] = [
  { name: 'n', type: 'u32' },
  { name: 'k', type: 'u32' },
  { name: 'upRow', type: 'u32' },
  { name: 'blocks', type: 'u32' },
  { name: 'eps', type: 'f32' },
];

/** The first half of the MLP of one row: the bits of rms-norm, two qmm-q4 of its family and silu-mul. */
export const normGateUpQ4: Kernel<NormGateUpQ4Shape> = {
  name: 'norm-gate-up-q4',
  group: 'fused',
  summary: 'out = silu(G m) · (U m) with m = x / √(mean x² + eps) · norm, G and U 4-bit rows of one matrix',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'norm', access: 'read', type: 'f32' },
    { name: 'codes', access: 'read', type: 'u32' },
    { name: 'scales', access: 'read', type: 'u32' },
    { name: 'biases', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['sigmoid', ...SPLIT_INCLUDES, 'norm-stage'],
  params: PARAMS,
  variants: Object.keys(SPLIT_VARIANTS),
  sizes: ({ n, k, upRow }) => {
    const pairs = Math.ceil(((upRow + n) * k) / 64 / 2);
    return { x: k, norm: k, codes: ((upRow + n) * k) / 8, scales: pairs, biases: pairs, out: n };
  },
  launch: ({ n, k, upRow, eps }, variant = 'split') => {
    const split = SPLIT_VARIANTS[variant];
    refuseUnless(split !== undefined, 'norm-gate-up-q4', `has no variant ${variant}, only ${Object.keys(SPLIT_VARIANTS).join(', ')}`);
    refuseUnless(n >= 1 && k >= 64 && k % 64 === 0, 'norm-gate-up-q4', `serves n >= 1 and k a multiple of 64; got n ${n}, k ${k}`);
    refuseUnless(upRow >= n, 'norm-gate-up-q4', `needs up's rows after gate's ${n}; got ${upRow}`);
    const { groups, blocks } = inBlocks(Math.ceil(n / (outputsOf(split!) / 2)));
    return {
      kernel: 'norm-gate-up-q4',
      variant,
      entryPoint: 'main',
      constants: splitConstants(split!, k),
      params: packParams(PARAMS, { n, k, upRow, blocks, eps }),
      workgroups: [groups, 1, 1],
      workgroupSize: [SPLIT_LANES, 1, 1],
      workgroupBytes: SPLIT_BYTES + NORM_STAGE_BYTES,
    };
  },
};
