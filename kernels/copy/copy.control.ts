import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'source rows read without their stride', gate: 3, find: '= source[row * params.sourceStride + i];', replace: '= source[row * params.width + i];' },
  {
    name: 'a NaN that goes through a float',
    gate: 3,
    find: '= source[row * params.sourceStride + i];',
    replace: '= source[row * params.sourceStride + i] | 0x400000u;',
  },
  { name: 'out rows written without their stride', gate: 3, find: '  out[row * params.outStride + i]', replace: '  out[row * params.width + i]' },
  { name: 'last row not written', gate: 2, find: '  if (row >= params.rows) {', replace: '  if (row + 1u >= params.rows) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
