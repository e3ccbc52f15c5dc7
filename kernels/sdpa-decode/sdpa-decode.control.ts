import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  {
    name: 'newest key not attended',
    gate: 3,
    find: '  let keys = min(position[0] + 1u, params.context);',
    replace: '  let keys = max(min(position[0], params.context), 1u);',
  },
  { name: 'scale forgotten', gate: 3, find: '      score = dot * params.scale;', replace: '      score = dot;' },
  { name: 'values not rescaled', gate: 3, find: '        sums[t] *= shrink;', replace: '        sums[t] *= 1.0;' },
  { name: 'denominator not rescaled', gate: 3, find: '      total *= shrink;', replace: '      total *= 1.0;' },
  { name: 'last level of the tree dropped', gate: 3, find: '    if (lane < apart) {', replace: '    if (lane < apart && apart > 1u) {' },
  { name: 'last slice dropped', gate: 3, find: '      for (var s = 1u; s < SLICES; s++) {', replace: '      for (var s = 1u; s + 1u < SLICES; s++) {' },
  { name: 'wrong key-value head', gate: 3, find: 'head * params.kvHeads / params.heads * HEAD_DIM;', replace: 'head % params.kvHeads * HEAD_DIM;' },
  { name: 'last dimension not written', gate: 2, find: '    if (slice == 0u && i < HEAD_DIM) {', replace: '    if (slice == 0u && i + 1u < HEAD_DIM) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(LANES)', replace: '@compute @workgroup_size(128)' },
  { name: 'score kept in fp16', gate: 4, find: '        dot += query[i]', replace: '        dot = quantizeToF16(dot); dot += query[i]' },
  {
    name: 'values kept in fp16',
    gate: 4,
    find: '            sums[t] += w * vCache',
    replace: '            sums[t] = quantizeToF16(sums[t]); sums[t] += w * vCache',
  },
];
