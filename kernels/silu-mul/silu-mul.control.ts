import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'gate and up swapped', gate: 3, find: 'let g = gate[row', replace: 'let g = up[row' },
  { name: 'negative gates take the positive branch', gate: 3, find: 'select(e, 1.0, g >= 0.0)', replace: 'select(e, 1.0, g >= -1.0)' },
  { name: 'sign of the gate lost', gate: 3, find: '= g * sigmoid * up[', replace: '= abs(g) * sigmoid * up[' },
  { name: 'last element not written', gate: 2, find: 'min(first + BLOCK - lane, params.n)', replace: 'min(first + BLOCK - lane, params.n - 1u)' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
