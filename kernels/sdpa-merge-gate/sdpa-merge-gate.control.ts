import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
  { name: 'a chunk without a key merged', gate: 3, find: '+ KEYS - 1u) / KEYS;', replace: '+ 2u * KEYS - 1u) / KEYS;' },
  { name: 'largest score missed', gate: 3, find: 'max(max(max(max(top, m0), m1), m2), m3)', replace: 'max(max(max(top, m0), m1), m2)' },
  { name: 'weights not divided out', gate: 3, find: 'sum / total * sigmoid', replace: 'sum * sigmoid' },
  {
    name: 'first chunk unshrunk',
    gate: 3,
    find: '    let e0 = exp(stats[c0 * 2u] - top);',
    replace: '    let e0 = select(exp(stats[c0 * 2u] - top), 1.0, c == 0u);',
  },
  { name: 'query taken for the gate', gate: 3, find: 'params.headDim + params.headDim + id.x];', replace: 'params.headDim + id.x];' },
  { name: 'fourth chunk of four dropped', gate: 3, find: 'if (c + 3u < chunks) {', replace: 'if (false) {' },
  { name: 'last chunk added twice', gate: 3, find: 'if (c + 1u < chunks) {', replace: 'if (c < chunks) {' },
  {
    name: 'last element not written',
    gate: 2,
    find: '  if (id.x >= params.headDim) {',
    replace: '  if (id.x + 1u >= params.headDim && params.headDim > 1u) {',
  },
  {
    name: 'numerator kept in fp16',
    gate: 4,
    find: '    sum = fma(e0, s0, sum);',
    replace: '    sum = quantizeToF16(fma(e0, s0, sum));',
  },
];
