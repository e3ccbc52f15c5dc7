import type { Control } from '../contract.ts';

const ROUND = '  return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;';

export const controls: readonly Control[] = [
  { name: 'cut off instead of rounded', gate: 3, find: ROUND, replace: '  return bits >> 16u;' },
  { name: 'ties away from zero', gate: 3, find: ROUND, replace: '  return (bits + 0x8000u) >> 16u;' },
  { name: 'ties to odd', gate: 3, find: ROUND, replace: '  return (bits + 0x8000u - ((bits >> 16u) & 1u)) >> 16u;' },
  { name: 'a signalling NaN stays one', gate: 3, find: '    return (bits >> 16u) | 0x40u;', replace: '    return bits >> 16u;' },
  { name: 'infinity taken for a NaN', gate: 3, find: '(bits & 0x7fffffffu) > 0x7f800000u', replace: '(bits & 0x7fffffffu) >= 0x7f800000u' },
  { name: 'halves swapped', gate: 3, find: '    word |= rounded(x[i + 1u]) << 16u;', replace: '    word = (word << 16u) | rounded(x[i + 1u]);' },
  { name: 'what lies behind an odd count gets in', gate: 3, find: '  if (i + 1u < params.count) {', replace: '  if (i < params.count) {' },
  { name: 'last word not written', gate: 2, find: '  if (i >= params.count) {', replace: '  if (i + 2u >= params.count) {' },
  { name: 'a word too many', gate: 2, find: '  if (i >= params.count) {', replace: '  if (i > params.count) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
