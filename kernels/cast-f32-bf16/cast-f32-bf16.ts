import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

export type CastF32Bf16Shape = Readonly<{ count: number }>;

const LANES = 64;

const PARAMS: readonly ParamSpec[] = [{ name: 'count', type: 'u32' }];

/**
 * Narrows float32 to bf16. x: `count` float32 values, read as their bits (u32); out u32 [⌈count/2⌉], two bf16 a word, the lower half
 * first; the upper half behind an odd count is 0.
 */
export const castF32Bf16: Kernel<CastF32Bf16Shape> = {
  name: 'cast-f32-bf16',
  group: 'pointwise',
  summary: 'out = the bf16 nearest to x, ties to even, NaN quieted, two a word',
  bindings: [
    { name: 'x', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'u32' },
  ],
  includes: ['linear-group'],
  params: PARAMS,
  variants: ['pair'],
  sizes: ({ count }) => ({ x: count, out: Math.ceil(count / 2) }),
  launch: ({ count }, variant = 'pair'): Launch => {
    if (variant !== 'pair') throw new LaunchRefused(`cast-f32-bf16 has no variant ${variant}; it has pair`);
    if (count < 1) throw new LaunchRefused(`cast-f32-bf16 serves count >= 1; got ${count}`);
    return {
      kernel: 'cast-f32-bf16',
      variant,
      entryPoint: 'cast_f32_bf16',
      constants: {},
      params: packParams(PARAMS, { count }),
      workgroups: foldGrid(Math.ceil(count / 2 / LANES)),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 0,
    };
  },
};
