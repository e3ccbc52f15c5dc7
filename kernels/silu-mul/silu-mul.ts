import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

export type SiluMulShape = Readonly<{ count: number }>;

const LANES = 64;

const PARAMS: readonly ParamSpec[] = [{ name: 'count', type: 'u32' }];

/** SwiGLU activation of two f32 arrays of `count` elements. */
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
  sizes: ({ count }) => ({ gate: count, up: count, out: count }),
  launch: ({ count }, variant = 'element'): Launch => {
    if (variant !== 'element') throw new LaunchRefused(`silu-mul has no variant ${variant}; it has element`);
    if (count < 1) throw new LaunchRefused(`silu-mul serves count >= 1; got ${count}`);
    return {
      kernel: 'silu-mul',
      variant,
      entryPoint: 'silu_mul',
      constants: {},
      params: packParams(PARAMS, { count }),
      workgroups: foldGrid(Math.ceil(count / LANES)),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 0,
    };
  },
};
