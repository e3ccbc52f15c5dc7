import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { refuseUnless } from '../shared/refuse-unless.ts';
import { inBlocks, NORM_STAGE_BYTES, outputsOf, splitConstants, SPLIT_BYTES, SPLIT_INCLUDES, SPLIT_LANES, SPLIT_VARIANTS } from '../shared/split-k.ts';

/** One row: x and norm [k], W [n, k], y [n]. */
export type NormQmmQ4Shape = Readonly<{ n: number; k: number; eps: number }>;

const PARAMS: readonly ParamSpec[] = [
  { name: 'n', type: 'u32' },
  { name: 'k', type: 'u32' },
  { name: 'blocks', type: 'u32' },
  { name: 'eps', type: 'f32' },
];

/** RMS norm of one row, then its 4-bit product: the bits of rms-norm and qmm-q4 of its family. Layouts as in qmm-q4. */
export const normQmmQ4: Kernel<NormQmmQ4Shape> = {
  name: 'norm-qmm-q4',
  group: 'fused',
  summary: 'y = (x / √(mean x² + eps) · norm) · Wᵀ with W[n, k] = scale · q + bias per group of 64 along k',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'norm', access: 'read', type: 'f32' },
    { name: 'codes', access: 'read', type: 'u32' },
    { name: 'scales', access: 'read', type: 'u32' },
    { name: 'biases', access: 'read', type: 'u32' },
    { name: 'y', access: 'read_write', type: 'f32' },
  ],
  includes: [...SPLIT_INCLUDES, 'norm-stage'],
  params: PARAMS,
  variants: Object.keys(SPLIT_VARIANTS),
  sizes: ({ n, k }) => {
    const pairs = Math.ceil((n * k) / 64 / 2);
    return { x: k, norm: k, codes: (n * k) / 8, scales: pairs, biases: pairs, y: n };
  },
  launch: ({ n, k, eps }, variant = 'split') => {
    const split = SPLIT_VARIANTS[variant];
    refuseUnless(split !== undefined, 'norm-qmm-q4', `has no variant ${variant}, only ${Object.keys(SPLIT_VARIANTS).join(', ')}`);
    refuseUnless(n >= 1 && k >= 64 && k % 64 === 0, 'norm-qmm-q4', `serves n >= 1 and k a multiple of 64; got n ${n}, k ${k}`);
    const { groups, blocks } = inBlocks(Math.ceil(n / outputsOf(split!)));
    return {
      kernel: 'norm-qmm-q4',
      variant,
      entryPoint: 'main',
      constants: splitConstants(split!, k),
      params: packParams(PARAMS, { n, k, blocks, eps }),
      workgroups: [groups, 1, 1],
      workgroupSize: [SPLIT_LANES, 1, 1],
      workgroupBytes: SPLIT_BYTES + NORM_STAGE_BYTES,
    };
  },
};
