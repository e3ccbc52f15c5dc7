import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** The gate's element is row*rowStride + head*headStride + gateOffset + i: q_proj gives [query | gate] within each head. */
export type OutputGateShape = {
  readonly rows: number;
  readonly heads: number;
  readonly headDim: number;
  readonly rowStride: number;
  readonly headStride: number;
  readonly gateOffset: number;
};

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'heads', type: 'u32' },
  { name: 'headDim', type: 'u32' },
  { name: 'rowStride', type: 'u32' },
  { name: 'headStride', type: 'u32' },
  { name: 'gateOffset', type: 'u32' },
];

/** Gates the attention output, reading the gate in place from q_proj's output. */
export const outputGate: Kernel<OutputGateShape> = {
  name: 'output-gate',
  group: 'attention',
  summary: 'out = attn · sigmoid(gate)',
  bindings: [
    { name: 'attn', access: 'read', type: 'f32' },
    { name: 'qg', access: 'read', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['sigmoid'],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, heads, headDim, rowStride }) => ({ attn: rows * heads * headDim, qg: rows * rowStride, out: rows * heads * headDim }),
  touched: ({ rows, heads, headDim }) => ({ qg: rows * heads * headDim }),
  launch: ({ rows, heads, headDim, rowStride, headStride, gateOffset }, variant = 'default') => {
    refuseUnless(variant === 'default', 'output-gate', `has no variant ${variant}, only default`);
    refuseUnless(rowStride >= (heads - 1) * headStride + gateOffset + headDim, 'output-gate', 'gates must lie within their row');
    refuseUnless(rows <= MAX_WORKGROUPS && heads <= MAX_WORKGROUPS, 'output-gate', `serves up to ${MAX_WORKGROUPS} rows and heads`);
    return {
      kernel: 'output-gate',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, heads, headDim, rowStride, headStride, gateOffset }),
      workgroups: [Math.ceil(headDim / 64), heads, rows],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 0,
    };
  },
};
