import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(LANES)', replace: '@compute @workgroup_size(32)' },
  {
    name: 'gate taken for the query',
    gate: 3,
    find: '  var source = group.x * 2u * HEAD_DIM;',
    replace: '  var source = (group.x * 2u + 1u) * HEAD_DIM;',
  },
  { name: 'keys weighed like queries', gate: 3, find: '    weights = HEAD_DIM;', replace: '    weights = 0u;' },
  { name: 'value taken from the keys', gate: 3, find: '= x[params.vOffset + head', replace: '= x[params.kOffset + head' },
  { name: 'last level of the tree dropped', gate: 3, find: '    if (lane < apart) {', replace: '    if (lane < apart && apart > 1u) {' },
  {
    name: 'eps outside the root',
    gate: 3,
    find: 'inverseSqrt(sums[0] / f32(HEAD_DIM) + params.eps)',
    replace: 'inverseSqrt(sums[0] / f32(HEAD_DIM)) + params.eps',
  },
  { name: 'turned the other way', gate: 3, find: '-(turning[i + half] *', replace: '(turning[i + half] *' },
  { name: 'neighbours paired', gate: 3, find: 'turning[i - half] * table[angle + i]', replace: 'turning[i - 1u] * table[angle + i]' },
  { name: 'written past the context', gate: 2, find: '    } else if (at < params.context) {', replace: '    } else {' },
  {
    name: 'written a position late',
    gate: 3,
    find: '  let cached = at * params.kvHeads',
    replace: '  let cached = select(at, at - 1u, at > 0u) * params.kvHeads',
  },
  {
    name: 'last query element not written',
    gate: 2,
    find: '      q[group.x * HEAD_DIM + i] = made;',
    replace: '      if (i + 1u < HEAD_DIM) { q[group.x * HEAD_DIM + i] = made; }',
  },
  { name: 'squares kept in fp16', gate: 4, find: '    sum = fma(value, value, sum);', replace: '    sum = quantizeToF16(sum + value * value);' },
];
