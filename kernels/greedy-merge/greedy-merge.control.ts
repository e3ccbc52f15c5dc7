import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'what is not finite is dropped', gate: 3, find: 'bad = min(bad, parts[span * 5u + 2u]);', replace: 'bad = max(bad, parts[span * 5u + 2u]);' },
  { name: 'ties to the last span', gate: 3, find: 'if (parts[span * 5u] > key) {', replace: 'if (parts[span * 5u] >= key) {' },
  {
    name: 'ties to the highest index',
    gate: 3,
    file: 'shared/greedy-tree.wgsl',
    find: 'other_index < best_index[lane]',
    replace: 'other_index > best_index[lane]',
  },
  { name: 'last span not read', gate: 3, find: 'span < params.spans;', replace: 'span + 1u < params.spans;' },
  {
    name: 'last level of the tree dropped',
    gate: 3,
    file: 'shared/greedy-tree.wgsl',
    find: '    if (lane < half) {',
    replace: '    if (lane < half && half > 1u) {',
  },
  { name: 'finite the wrong way round', gate: 3, find: 'select(0u, 1u, first_bad[0] == NONE)', replace: 'select(1u, 0u, first_bad[0] == NONE)' },
  { name: 'a word not written', gate: 2, find: '    checksum[1] = sum_b[0];', replace: '    checksum[1] = checksum[1];' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(256)', replace: '@compute @workgroup_size(128)' },
];
