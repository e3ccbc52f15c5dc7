import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';
import { outputsOf, SPLIT_BYTES, SPLIT_INCLUDES, SPLIT_LANES, SPLIT_VARIANTS, splitConstants } from '../shared/split-k.ts';

/** One row: x [k], W [n, k], residual and out [n]. */
export type QmmQ4AddShape = Readonly<{ n: number; k: number }>;

const PARAMS: readonly ParamSpec[] = [
  { name: 'n', type: 'u32' },
  { name: 'k', type: 'u32' },
];

/** 4-bit product of one row added to the residual: the bits of qmm-q4 of its family and residual-add. Layouts as in qmm-q4. */
export const qmmQ4Add: Kernel<QmmQ4AddShape> = {
  name: 'qmm-q4-add',
  group: 'fused',
  summary: 'out = residual + x · Wᵀ with W[n, k] = scale · q + bias per group of 64 along k',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'codes', access: 'read', type: 'u32' },
    { name: 'scales', access: 'read', type: 'u32' },
    { name: 'biases', access: 'read', type: 'u32' },
    { name: 'residual', access: 'read', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: SPLIT_INCLUDES,
  params: PARAMS,
  variants: Object.keys(SPLIT_VARIANTS),
  sizes: ({ n, k }) => {
    const pairs = Math.ceil((n * k) / 64 / 2);
    return { x: k, codes: (n * k) / 8, scales: pairs, biases: pairs, residual: n, out: n };
  },
  launch: ({ n, k }, variant = 'split') => {
    const split = SPLIT_VARIANTS[variant];
    refuseUnless(split !== undefined, 'qmm-q4-add', `has no variant ${variant}, only ${Object.keys(SPLIT_VARIANTS).join(', ')}`);
    refuseUnless(n >= 1 && k >= 64 && k % 64 === 0, 'qmm-q4-add', `serves n >= 1 and k a multiple of 64; got n ${n}, k ${k}`);
    const groups = Math.ceil(n / outputsOf(split!));
    refuseUnless(groups <= MAX_WORKGROUPS, 'qmm-q4-add', `serves up to ${MAX_WORKGROUPS * outputsOf(split!)} outputs; got ${n}`);
    return {
      kernel: 'qmm-q4-add',
      variant,
      entryPoint: 'main',
      constants: splitConstants(split!, k),
      params: packParams(PARAMS, { n, k }),
      workgroups: [groups, 1, 1],
      workgroupSize: [SPLIT_LANES, 1, 1],
      workgroupBytes: SPLIT_BYTES,
    };
  },
};
