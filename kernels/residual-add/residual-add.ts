import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

export type ResidualAddShape = Readonly<{ count: number }>;

const LANES = 64;
/** Elements of a workgroup: four a lane. */
const BLOCK = 256;

const PARAMS: readonly ParamSpec[] = [{ name: 'count', type: 'u32' }];

/** Element-wise sum of two f32 arrays of `count` elements. */
export const residualAdd: Kernel<ResidualAddShape> = {
  name: 'residual-add',
  group: 'pointwise',
  summary: 'out = a + b',
  bindings: [
    { name: 'a', access: 'read', type: 'f32' },
    { name: 'b', access: 'read', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['linear-group'],
  params: PARAMS,
  variants: ['element'],
  sizes: ({ count }) => ({ a: count, b: count, out: count }),
  launch: ({ count }, variant = 'element'): Launch => {
    if (variant !== 'element') throw new LaunchRefused(`residual-add has no variant ${variant}; it has element`);
    if (count < 1) throw new LaunchRefused(`residual-add serves count >= 1; got ${count}`);
    return {
      kernel: 'residual-add',
      variant,
      entryPoint: 'residual_add',
      constants: {},
      params: packParams(PARAMS, { count }),
      workgroups: foldGrid(Math.ceil(count / BLOCK)),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 0,
    };
  },
};
