import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

/** Words: `width` of them a row, rows `sourceStride` and `outStride` words apart. */
export type CopyShape = Readonly<{ rows: number; width: number; sourceStride: number; outStride: number }>;

const LANES = 64;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'width', type: 'u32' },
  { name: 'sourceStride', type: 'u32' },
  { name: 'outStride', type: 'u32' },
];

/** Copies rows of words between strides. source u32 [rows, sourceStride] and out u32 [rows, outStride]: the bits of any element type. */
export const copy: Kernel<CopyShape> = {
  name: 'copy',
  group: 'datamove',
  summary: 'out[row, i] = source[row, i] for i < width, rows at a stride of their own on either side',
  bindings: [
    { name: 'source', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'u32' },
  ],
  includes: ['linear-group'],
  params: PARAMS,
  variants: ['word'],
  sizes: ({ rows, sourceStride, outStride }) => ({ source: rows * sourceStride, out: rows * outStride }),
  launch: ({ rows, width, sourceStride, outStride }, variant = 'word'): Launch => {
    if (variant !== 'word') throw new LaunchRefused(`copy has no variant ${variant}; it has word`);
    if (rows < 1 || width < 1 || sourceStride < width || outStride < width) {
      throw new LaunchRefused(
        `copy serves rows, width >= 1 and strides of at least width; got rows ${rows}, width ${width}, strides ${sourceStride} and ${outStride}`,
      );
    }
    return {
      kernel: 'copy',
      variant,
      entryPoint: 'copy_rows',
      constants: {},
      params: packParams(PARAMS, { rows, width, sourceStride, outStride }),
      workgroups: foldGrid(Math.ceil((rows * width) / LANES)),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 0,
    };
  },
};
