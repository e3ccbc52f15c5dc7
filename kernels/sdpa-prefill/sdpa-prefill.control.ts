import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'later keys attended', gate: 3, find: '  let limit = min(first + row + 1u, keys);', replace: '  let limit = keys;' },
  { name: 'scale forgotten', gate: 3, find: '      score = dot * params.scale;', replace: '      score = dot;' },
  { name: 'values not rescaled', gate: 3, find: '        sums[t] *= shrink;', replace: '        sums[t] *= 1.0;' },
  { name: 'denominator not rescaled', gate: 3, find: '      total *= shrink;', replace: '      total *= 1.0;' },
  { name: 'wrong key-value head', gate: 3, find: 'head * params.kvHeads / params.heads * HEAD_DIM;', replace: 'head % params.kvHeads * HEAD_DIM;' },
  { name: 'last row not written', gate: 2, find: '  if (row < params.rows) {', replace: '  if (row + 1u < params.rows) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(LANES)', replace: '@compute @workgroup_size(128)' },
  { name: 'score kept in fp16', gate: 4, find: '        dot += queries[', replace: '        dot = quantizeToF16(dot); dot += queries[' },
  {
    name: 'values kept in fp16',
    gate: 4,
    find: '          sums[t] += w * vCache',
    replace: '          sums[t] = quantizeToF16(sums[t]); sums[t] += w * vCache',
  },
];
