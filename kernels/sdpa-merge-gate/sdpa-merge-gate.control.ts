import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
  { name: 'a chunk without a key merged', gate: 3, find: '+ KEYS - 1u) / KEYS;', replace: '+ 2u * KEYS - 1u) / KEYS;' },
  { name: 'largest score missed', gate: 3, find: '    top = max(top, stats[(first + c) * 2u]);', replace: '    top = min(top, stats[(first + c) * 2u]);' },
  { name: 'weights not divided out', gate: 3, find: '    total = fma(shrink, stats[(first + c) * 2u + 1u], total);', replace: '    total = 1.0;' },
  {
    name: 'first chunk unshrunk',
    gate: 3,
    find: '    let shrink = exp(stats[(first + c) * 2u] - top);',
    replace: '    let shrink = select(exp(stats[(first + c) * 2u] - top), 1.0, c == 0u);',
  },
  { name: 'query taken for the gate', gate: 3, find: 'params.headDim + params.headDim + id.x];', replace: 'params.headDim + id.x];' },
  {
    name: 'last element not written',
    gate: 2,
    find: '  if (id.x >= params.headDim) {',
    replace: '  if (id.x + 1u >= params.headDim && params.headDim > 1u) {',
  },
  {
    name: 'numerator kept in fp16',
    gate: 4,
    find: '    sum = fma(shrink, sums[(first + c) * params.headDim + id.x], sum);',
    replace: '    sum = quantizeToF16(fma(shrink, sums[(first + c) * params.headDim + id.x], sum));',
  },
];
