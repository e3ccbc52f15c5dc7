import { packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';
import { refuseUnless } from '../shared/refuse-unless.ts';

/** `parts` 1: an element is one half; 2: a half, and another of what the first left. */
export type RowsToHalvesShape = Readonly<{ rows: number; k: number; parts: number }>;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'k', type: 'u32' },
  { name: 'parts', type: 'u32' },
];

/**
 * x f32 [rows, k] as halves for matrix units: halves u32 [rows, parts, k/2], two 16-bit floats a word, lower first; sums f32 [rows, k/64]
 * of the scaled rows; exponents i32 [rows] as u32.
 */
export const rowsToHalves: Kernel<RowsToHalvesShape> = {
  name: 'rows-to-halves',
  group: 'datamove',
  summary: 'halves = x · 2^e rounded to 11 bits, e by row so that none overflows; sums = Σ x · 2^e by 64',
  bindings: [
    { name: 'x', access: 'read', type: 'u32' },
    { name: 'halves', access: 'read_write', type: 'u32' },
    { name: 'sums', access: 'read_write', type: 'f32' },
    { name: 'exponents', access: 'read_write', type: 'u32' },
  ],
  includes: ['linear-group'],
  params: PARAMS,
  variants: ['row'],
  sizes: ({ rows, k, parts }) => ({ x: rows * k, halves: (rows * parts * k) / 2, sums: (rows * k) / 64, exponents: rows }),
  launch: ({ rows, k, parts }, variant = 'row'): Launch => {
    refuseUnless(variant === 'row', 'rows-to-halves', `there is no variant ${variant}; it has row`);
    refuseUnless(rows >= 1 && k >= 64 && k % 64 === 0, 'rows-to-halves', `it serves rows >= 1 and k a multiple of 64; got rows ${rows}, k ${k}`);
    refuseUnless(parts === 1 || parts === 2, 'rows-to-halves', `it makes one part or two; got ${parts}`);
    return {
      kernel: 'rows-to-halves',
      variant,
      entryPoint: 'to_halves',
      constants: {},
      params: packParams(PARAMS, { rows, k, parts }),
      workgroups: foldGrid(rows),
      workgroupSize: [256, 1, 1],
      workgroupBytes: 2 * 256 * 4,
    };
  },
};
