import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

export type CastBf16F32Shape = Readonly<{ count: number }>;

const LANES = 64;

const PARAMS: readonly ParamSpec[] = [{ name: 'count', type: 'u32' }];

/**
 * Widens bf16 to float32. x u32 [⌈count/2⌉], two bf16 a word, the lower half first; out: `count` float32 values, written as their
 * bits (u32). The upper half behind an odd count is not looked at.
 */
export const castBf16F32: Kernel<CastBf16F32Shape> = {
  name: 'cast-bf16-f32',
  group: 'pointwise',
  summary: 'out = x as float32, exactly, NaN quieted, two bf16 a word',
  bindings: [
    { name: 'x', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'u32' },
  ],
  includes: ['linear-group'],
  params: PARAMS,
  variants: ['element'],
  sizes: ({ count }) => ({ x: Math.ceil(count / 2), out: count }),
  launch: ({ count }, variant = 'element'): Launch => {
    if (variant !== 'element') throw new LaunchRefused(`cast-bf16-f32 has no variant ${variant}; it has element`);
    if (count < 1) throw new LaunchRefused(`cast-bf16-f32 serves count >= 1; got ${count}`);
    return {
      kernel: 'cast-bf16-f32',
      variant,
      entryPoint: 'cast_bf16_f32',
      constants: {},
      params: packParams(PARAMS, { count }),
      workgroups: foldGrid(Math.ceil(count / LANES)),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 0,
    };
  },
};
