import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'dropped term', gate: 3, find: '  out[i] = a[i] + b[i];', replace: '  out[i] = a[i];' },
  { name: 'sum in fp16', gate: 3, find: '  out[i] = a[i] + b[i];', replace: '  out[i] = quantizeToF16(a[i] + b[i]);' },
  { name: 'last element not written', gate: 2, find: '  if (i >= params.count) {', replace: '  if (i + 1u >= params.count) {' },
  { name: 'one element too many', gate: 2, find: '  if (i >= params.count) {', replace: '  if (i > params.count) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
