import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'gate and up swapped', gate: 3, find: '  let g = gate[i];', replace: '  let g = up[i];' },
  { name: 'negative gates take the positive branch', gate: 3, find: 'select(e, 1.0, g >= 0.0)', replace: 'select(e, 1.0, g >= -1.0)' },
  { name: 'sign of up lost', gate: 3, find: '  out[i] = g * sigmoid * up[i];', replace: '  out[i] = g * sigmoid * abs(up[i]);' },
  { name: 'last element not written', gate: 2, find: '  if (i >= params.count) {', replace: '  if (i + 1u >= params.count) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
