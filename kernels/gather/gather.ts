import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';

/** `rows` of `width` words out of a table of `entries` rows. */
export type GatherShape = Readonly<{ rows: number; width: number; entries: number }>;

const LANES = 64;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'width', type: 'u32' },
  { name: 'entries', type: 'u32' },
];

/**
 * Rows of a table by id. ids u32 [rows]; table u32 [entries, width]; out u32 [rows, width]: the bits of any element type. An id ≥ entries
 * gives a row of zero words, which is +0 in every type.
 */
export const gather: Kernel<GatherShape> = {
  name: 'gather',
  group: 'datamove',
  summary: 'out[row] = table[ids[row]]; an id past the table gives a zero row',
  bindings: [
    { name: 'ids', access: 'read', type: 'u32' },
    { name: 'table', access: 'read', type: 'u32' },
    { name: 'out', access: 'read_write', type: 'u32' },
  ],
  includes: ['linear-group'],
  params: PARAMS,
  variants: ['word'],
  sizes: ({ rows, width, entries }) => ({ ids: rows, table: entries * width, out: rows * width }),
  launch: ({ rows, width, entries }, variant = 'word'): Launch => {
    if (variant !== 'word') throw new LaunchRefused(`gather has no variant ${variant}; it has word`);
    if (rows < 1 || width < 1 || entries < 1) {
      throw new LaunchRefused(`gather serves rows, width, entries >= 1; got rows ${rows}, width ${width}, entries ${entries}`);
    }
    return {
      kernel: 'gather',
      variant,
      entryPoint: 'gather',
      constants: {},
      params: packParams(PARAMS, { rows, width, entries }),
      workgroups: foldGrid(Math.ceil((rows * width) / LANES)),
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 0,
    };
  },
};
