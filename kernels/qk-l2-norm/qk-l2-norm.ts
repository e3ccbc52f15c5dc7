import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** Each row of `x` is [q kHeads·dk | k kHeads·dk | anything], `rowStride` elements long. */
export type QkL2NormShape = {
  readonly rows: number;
  readonly kHeads: number;
  readonly dk: number;
  readonly rowStride: number;
};

/** transformers' epsilon: under the root, added to the sum (not to the mean, as mlx-lm does). */
const EPS = 1e-6;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'kHeads', type: 'u32' },
  { name: 'dk', type: 'u32' },
  { name: 'rowStride', type: 'u32' },
  { name: 'scale', type: 'f32' },
  { name: 'eps', type: 'f32' },
];

/** L2 norm of the gated delta net's queries and keys, read in place from the convolution's output; queries are scaled by dk^-0.5. */
export const qkL2Norm: Kernel<QkL2NormShape> = {
  name: 'qk-l2-norm',
  group: 'gdn',
  summary: 'q = x_q · 1/√(Σ x_q² + 1e-6) · dk^-0.5; k = x_k · 1/√(Σ x_k² + 1e-6), each over one head',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'q', access: 'read_write', type: 'f32' },
    { name: 'k', access: 'read_write', type: 'f32' },
  ],
  includes: [],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, kHeads, dk, rowStride }) => ({ x: rows * rowStride, q: rows * kHeads * dk, k: rows * kHeads * dk }),
  launch: ({ rows, kHeads, dk, rowStride }, variant = 'default') => {
    refuseUnless(variant === 'default', 'qk-l2-norm', `has no variant ${variant}, only default`);
    refuseUnless(rowStride >= 2 * kHeads * dk, 'qk-l2-norm', 'a row must hold 2·kHeads·dk elements');
    refuseUnless(rows <= MAX_WORKGROUPS && 2 * kHeads <= MAX_WORKGROUPS, 'qk-l2-norm', `serves up to ${MAX_WORKGROUPS} rows and heads`);
    return {
      kernel: 'qk-l2-norm',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, kHeads, dk, rowStride, scale: dk ** -0.5, eps: EPS }),
      workgroups: [2 * kHeads, rows, 1],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 256,
    };
  },
};
