import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'upper half first', gate: 3, find: '(i & 1u) == 1u', replace: '(i & 1u) == 0u' },
  { name: 'the lower half stays behind the upper one', gate: 3, find: 'word & 0xffff0000u', replace: 'word' },
  { name: 'a signalling NaN stays one', gate: 3, find: '  out[i] = select(bits, bits | 0x400000u, nan);', replace: '  out[i] = select(bits, bits, nan);' },
  { name: 'infinity taken for a NaN', gate: 3, find: '(bits & 0x7fffffffu) > 0x7f800000u', replace: '(bits & 0x7fffffffu) >= 0x7f800000u' },
  { name: 'last element not written', gate: 2, find: '  if (i >= params.count) {', replace: '  if (i + 1u >= params.count) {' },
  { name: 'one element too many', gate: 2, find: '  if (i >= params.count) {', replace: '  if (i > params.count) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
