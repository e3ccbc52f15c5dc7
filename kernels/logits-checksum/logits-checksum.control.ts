import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'position left out of the first sum', gate: 3, file: 'shared/logit-checksum.wgsl', find: '(i + 1u) * 0x9e3779b1u', replace: '0x9e3779b1u' },
  { name: 'last word not read', gate: 3, find: 'i < params.n;', replace: 'i + 1u < params.n;' },
  { name: 'last level of the tree dropped', gate: 3, find: '    if (lane < half) {', replace: '    if (lane < half && half > 1u) {' },
  { name: 'a word not written', gate: 2, find: '    result[1] = sum_b[0];', replace: '    result[1] = result[1];' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(256)', replace: '@compute @workgroup_size(128)' },
];
