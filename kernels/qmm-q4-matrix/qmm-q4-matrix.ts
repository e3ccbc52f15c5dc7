import { packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';
import { foldGrid } from '../shared/grid.ts';
import { refuseUnless } from '../shared/refuse-unless.ts';

/** `parts`: halves an element of x has, 1 or 2 (rows-to-halves). */
export type QmmQ4MatrixShape = Readonly<{ rows: number; n: number; k: number; parts: number }>;

/** Rows and columns of a workgroup. */
const TILE = 128;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'n', type: 'u32' },
  { name: 'k', type: 'u32' },
  { name: 'parts', type: 'u32' },
];

/**
 * 4-bit matrix product on matrix units. halves u32 [rows, parts, k/2], sums f32 [rows, k/64], exponents i32 [rows] as u32, all as rows-to-halves
 * makes them of x; codes, scales and biases as in qmm-q4; y f32 [rows, n].
 */
export const qmmQ4Matrix: Kernel<QmmQ4MatrixShape> = {
  name: 'qmm-q4-matrix',
  group: 'matrix',
  summary: 'y = x · Wᵀ with W[n, k] = scale · q + bias per group of 64 along k, q of 4 bits, x as halves, on matrix units',
  needs: 'subgroup-matrix',
  bindings: [
    { name: 'halves', access: 'read', type: 'u32' },
    { name: 'sums', access: 'read', type: 'f32' },
    { name: 'exponents', access: 'read', type: 'u32' },
    { name: 'codes', access: 'read', type: 'u32' },
    { name: 'scales', access: 'read', type: 'u32' },
    { name: 'biases', access: 'read', type: 'u32' },
    { name: 'y', access: 'read_write', type: 'f32' },
  ],
  includes: ['linear-group', 'bf16'],
  params: PARAMS,
  variants: ['tile'],
  sizes: ({ rows, n, k, parts }) => {
    const pairs = Math.ceil((n * k) / 64 / 2);
    return { halves: (rows * parts * k) / 2, sums: (rows * k) / 64, exponents: rows, codes: (n * k) / 8, scales: pairs, biases: pairs, y: rows * n };
  },
  launch: ({ rows, n, k, parts }, variant = 'tile'): Launch => {
    refuseUnless(variant === 'tile', 'qmm-q4-matrix', `there is no variant ${variant}; it has tile`);
    refuseUnless(rows >= 1 && n >= 1 && k >= 64 && k % 64 === 0, 'qmm-q4-matrix', `it serves rows, n >= 1 and k a multiple of 64; got ${rows}, ${n}, ${k}`);
    refuseUnless(parts === 1 || parts === 2, 'qmm-q4-matrix', `x has one part or two; got ${parts}`);
    return {
      kernel: 'qmm-q4-matrix',
      variant,
      entryPoint: 'matrix_tile',
      constants: {},
      params: packParams(PARAMS, { rows, n, k, parts }),
      workgroups: foldGrid(Math.ceil(n / TILE) * Math.ceil(rows / TILE)),
      workgroupSize: [256, 1, 1],
      workgroupBytes: 2 * 1152 * 16 + 256 * 8 + 128 * 4,
    };
  },
};
