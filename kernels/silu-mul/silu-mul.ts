import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

/** Rows of n elements. `gate` and `up` are read in place: elements row·stride + i and row·stride + upOffset + i; they may be one array. */
export type SiluMulShape = Readonly<{ rows: number; n: number; stride: number; upOffset: number }>;

const LANES = 64;
/** Elements of a workgroup: four a lane. */
const BLOCK = 256;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'n', type: 'u32' },
  { name: 'stride', type: 'u32' },
  { name: 'upOffset', type: 'u32' },
];

/** SwiGLU activation. `out` is [rows, n]. */
export const siluMul: Kernel<SiluMulShape> = {
  name: 'silu-mul',
  group: 'pointwise',
  summary: 'out = silu(gate) · up with silu(g) = g / (1 + e⁻ᵍ)',
  bindings: [
    { name: 'gate', access: 'read', type: 'f32' },
    { name: 'up', access: 'read', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['linear-group'],
  params: PARAMS,
  variants: ['element'],
  sizes: ({ rows, n, stride, upOffset }) => ({ gate: (rows - 1) * stride + n, up: (rows - 1) * stride + upOffset + n, out: rows * n }),
  touched: ({ rows, n }) => ({ gate: rows * n, up: rows * n }),
  launch: ({ rows, n, stride, upOffset }, variant = 'element'): Launch => {
    if (variant !== 'element') throw new LaunchRefused(`silu-mul has no variant ${variant}; it has element`);
    if (rows < 1 || n < 1) throw new LaunchRefused(`silu-mul serves rows and n >= 1; got ${rows} and ${n}`);
    if (stride < n) throw new LaunchRefused(`silu-mul needs rows of ${n} to lie apart; got a stride of ${stride}`);
    return {
      kernel: 'silu-mul',
      variant,
      entryPoint: 'silu_mul',
      constants: {},
      params: packParams(PARAMS, { rows, n, stride, upOffset }),
      workgroups: foldGrid(rows * Math.ceil(n / BLOCK)),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 0,
    };
  },
};
