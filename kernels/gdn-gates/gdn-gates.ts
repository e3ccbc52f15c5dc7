import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** Rows are tokens: element row·stride + aOffset + head of `a`, and the same of `b`, which may be one array. */
export type GdnGatesShape = {
  readonly rows: number;
  readonly vHeads: number;
  readonly stride: number;
  readonly aOffset: number;
  readonly bOffset: number;
};

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'vHeads', type: 'u32' },
  { name: 'stride', type: 'u32' },
  { name: 'aOffset', type: 'u32' },
  { name: 'bOffset', type: 'u32' },
];

/** The gated delta net's log decay `g` (never positive) and write strength `beta` (in 0 … 1), for each row and value head. */
export const gdnGates: Kernel<GdnGatesShape> = {
  name: 'gdn-gates',
  group: 'gdn',
  summary: 'g = −exp(aLog) · softplus(a + dtBias); beta = sigmoid(b)',
  bindings: [
    { name: 'a', access: 'read', type: 'f32' },
    { name: 'b', access: 'read', type: 'f32' },
    { name: 'aLog', access: 'read', type: 'f32' },
    { name: 'dtBias', access: 'read', type: 'f32' },
    { name: 'g', access: 'read_write', type: 'f32' },
    { name: 'beta', access: 'read_write', type: 'f32' },
  ],
  includes: ['sigmoid', 'softplus'],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, vHeads, stride }) => ({ a: rows * stride, b: rows * stride, aLog: vHeads, dtBias: vHeads, g: rows * vHeads, beta: rows * vHeads }),
  touched: ({ rows, vHeads }) => ({ a: rows * vHeads, b: rows * vHeads }),
  launch: ({ rows, vHeads, stride, aOffset, bOffset }, variant = 'default') => {
    refuseUnless(variant === 'default', 'gdn-gates', `has no variant ${variant}, only default`);
    refuseUnless(stride >= Math.max(aOffset, bOffset) + vHeads, 'gdn-gates', 'needs a and b within a row');
    refuseUnless(rows * vHeads <= MAX_WORKGROUPS * 64, 'gdn-gates', `serves up to ${MAX_WORKGROUPS * 64} gates`);
    return {
      kernel: 'gdn-gates',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, vHeads, stride, aOffset, bOffset }),
      workgroups: [Math.ceil((rows * vHeads) / 64), 1, 1],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 0,
    };
  },
};
