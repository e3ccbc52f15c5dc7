import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

/** `eps` is the one real number among the shape's integers: it is part of what is computed, as the model's config gives it. */
export type RmsNormShape = Readonly<{ rows: number; n: number; eps: number }>;

const LANES = 256;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'n', type: 'u32' },
  { name: 'eps', type: 'f32' },
];

/** Root-mean-square norm of each row. x f32 [rows, n], weight f32 [n] (plain, not 1 + w), out f32 [rows, n]. */
export const rmsNorm: Kernel<RmsNormShape> = {
  name: 'rms-norm',
  group: 'pointwise',
  summary: 'out = x / sqrt(mean(x²) + eps) · weight, per row',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'weight', access: 'read', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['linear-group'],
  params: PARAMS,
  variants: ['row'],
  sizes: ({ rows, n }) => ({ x: rows * n, weight: n, out: rows * n }),
  launch: ({ rows, n, eps }, variant = 'row'): Launch => {
    if (variant !== 'row') throw new LaunchRefused(`rms-norm has no variant ${variant}; it has row`);
    if (rows < 1 || n < 1 || !(eps > 0)) throw new LaunchRefused(`rms-norm serves rows, n >= 1 and eps > 0; got rows ${rows}, n ${n}, eps ${eps}`);
    return {
      kernel: 'rms-norm',
      variant,
      entryPoint: 'rms_norm',
      constants: {},
      params: packParams(PARAMS, { rows, n, eps }),
      workgroups: foldGrid(rows),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: (LANES + 16) * 4,
    };
  },
};
