import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'dropped term', gate: 3, find: '    out[i] = a[i] + b[i];', replace: '    out[i] = a[i];' },
  { name: 'sum in fp16', gate: 3, find: '    out[i] = a[i] + b[i];', replace: '    out[i] = quantizeToF16(a[i] + b[i]);' },
  { name: 'last element not written', gate: 2, find: 'i < min(first + 256u, params.count)', replace: 'i < min(first + 256u, params.count - 1u)' },
  { name: 'one element too many', gate: 2, find: 'i < min(first + 256u, params.count)', replace: 'i < min(first + 256u, params.count + 1u)' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
