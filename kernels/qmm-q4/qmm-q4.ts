import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';
import { outputsOf, SPLIT_BYTES, SPLIT_INCLUDES, SPLIT_LANES, SPLIT_VARIANTS, splitConstants, type SplitVariant } from '../shared/split-k.ts';

export type QmmQ4Shape = Readonly<{ rows: number; n: number; k: number }>;

/** What one workgroup of a variant computes. */
interface Variant {
  readonly entryPoint: string;
  readonly rows: number;
  readonly columns: number;
  /** Lanes and bytes of workgroup memory of a workgroup; absent: 64 and none, or those of `split`. */
  readonly lanes?: number;
  readonly bytes?: number;
  /** Families split-k and fixed. Absent: family serial-k, a lane an output. */
  readonly split?: SplitVariant;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  scalar: { entryPoint: 'scalar', rows: 1, columns: 64 },
  vec4: { entryPoint: 'vec4_loads', rows: 1, columns: 64 },
  'tile-rows': { entryPoint: 'tile_rows', rows: 4, columns: 64 },
  ncols: { entryPoint: 'ncols', rows: 1, columns: 256 },
  'tile-32': { entryPoint: 'tile_32', rows: 1, columns: 32, lanes: 32, bytes: 288 * 16 },
  tile: { entryPoint: 'tile', rows: 128, columns: 128, lanes: 256, bytes: 2 * 512 * 16 },
  ...Object.fromEntries(Object.entries(SPLIT_VARIANTS).map(([name, split]) => [name, { entryPoint: 'split', rows: 1, columns: outputsOf(split), split }])),
};

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'n', type: 'u32' },
  { name: 'k', type: 'u32' },
];

/**
 * 4-bit matrix product. x f32 [rows, k]; codes u32 [n, k/8], eight codes a word, lowest nibble first; scales and biases
 * bf16 pairs, flat over [n·k/64], padded to whole words; y f32 [rows, n].
 */
export const qmmQ4: Kernel<QmmQ4Shape> = {
  name: 'qmm-q4',
  group: 'projection',
  summary: 'y = x · Wᵀ with W[n, k] = scale · q + bias per group of 64 along k, q of 4 bits',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'codes', access: 'read', type: 'u32' },
    { name: 'scales', access: 'read', type: 'u32' },
    { name: 'biases', access: 'read', type: 'u32' },
    { name: 'y', access: 'read_write', type: 'f32' },
  ],
  includes: ['linear-group', ...SPLIT_INCLUDES, 'q4-tile'],
  params: PARAMS,
  variants: Object.keys(VARIANTS),
  sizes: ({ rows, n, k }) => {
    const pairs = Math.ceil((n * k) / 64 / 2);
    return { x: rows * k, codes: (n * k) / 8, scales: pairs, biases: pairs, y: rows * n };
  },
  launch: ({ rows, n, k }, variant = 'scalar'): Launch => {
    const found = VARIANTS[variant];
    if (!found) throw new LaunchRefused(`qmm-q4 has no variant ${variant}; it has ${Object.keys(VARIANTS).join(', ')}`);
    if (rows < 1 || n < 1 || k < 64 || k % 64 !== 0) {
      throw new LaunchRefused(`qmm-q4 serves rows, n >= 1 and k a multiple of 64 (one scale a group of 64); got rows ${rows}, n ${n}, k ${k}`);
    }
    return {
      kernel: 'qmm-q4',
      variant,
      entryPoint: found.entryPoint,
      constants: found.split === undefined ? {} : splitConstants(found.split, k),
      params: packParams(PARAMS, { rows, n, k }),
      workgroups: foldGrid(Math.ceil(n / found.columns) * Math.ceil(rows / found.rows)),
      workgroupSize: [found.split === undefined ? (found.lanes ?? 64) : SPLIT_LANES, 1, 1],
      workgroupBytes: found.split === undefined ? (found.bytes ?? 0) : SPLIT_BYTES,
    };
  },
};
