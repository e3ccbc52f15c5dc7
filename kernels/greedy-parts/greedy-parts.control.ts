import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'what is not finite is dropped', gate: 3, find: '      bad = min(bad, i);', replace: '      bad = max(bad, i);' },
  { name: 'NaN counts, infinity does not', gate: 3, find: '(bits & 0x7f800000u) == 0x7f800000u', replace: '(bits & 0x7fffffffu) == 0x7f800000u' },
  {
    name: 'ties to the highest index',
    gate: 3,
    file: 'shared/greedy-tree.wgsl',
    find: 'other_index < best_index[lane]',
    replace: 'other_index > best_index[lane]',
  },
  { name: 'index within the span', gate: 3, find: '      index = i;', replace: '      index = i % SPAN;' },
  { name: 'last logit not read', gate: 3, find: 'i < min(params.n, (span + 1u) * SPAN)', replace: 'i + 1u < min(params.n, (span + 1u) * SPAN)' },
  { name: 'next span read too', gate: 3, find: 'i < min(params.n, (span + 1u) * SPAN)', replace: 'i < min(params.n, (span + 2u) * SPAN)' },
  { name: 'position left out of a checksum', gate: 3, find: 'checksum_a(bits, i)', replace: 'checksum_a(bits, 0u)' },
  {
    name: 'last level of the tree dropped',
    gate: 3,
    file: 'shared/greedy-tree.wgsl',
    find: '    if (lane < half) {',
    replace: '    if (lane < half && half > 1u) {',
  },
  { name: 'a word not written', gate: 2, find: '    parts[span * 5u + 4u] = sum_b[0];', replace: '    parts[span * 5u + 4u] = parts[span * 5u + 4u];' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(256)', replace: '@compute @workgroup_size(128)' },
];
