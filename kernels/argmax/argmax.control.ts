import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'a maximum that drops what is not finite', gate: 3, find: '      bad = min(bad, i);', replace: '      bad = max(bad, i);' },
  { name: 'NaN counts, infinity does not', gate: 3, find: '(bits & 0x7f800000u) == 0x7f800000u', replace: '(bits & 0x7fffffffu) == 0x7f800000u' },
  { name: 'ties to the highest index', gate: 3, find: 'other_index < best_index[lane]', replace: 'other_index > best_index[lane]' },
  { name: '-0 below +0', gate: 3, file: 'shared/logit-bits.wgsl', find: 'bits == 0x80000000u', replace: 'bits == 0x80000001u' },
  { name: 'last logit not read', gate: 3, find: 'i < params.n;', replace: 'i + 1u < params.n;' },
  { name: 'a word not written', gate: 2, find: '    result[3] = 0u;', replace: '    result[3] = result[3];' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(256)', replace: '@compute @workgroup_size(128)' },
];
