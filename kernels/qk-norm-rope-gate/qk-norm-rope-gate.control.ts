import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(LANES)', replace: '@compute @workgroup_size(32)' },
  { name: 'gate taken for the query', gate: 3, find: '  return qg[at];', replace: '  return qg[at + params.headDim];' },
  {
    name: 'query taken for the gate',
    gate: 3,
    find: '= qg[source + params.headDim + i];',
    replace: '= qg[source + i];',
  },
  {
    name: 'heads read as two blocks',
    gate: 3,
    find: '  var source = row * params.qStride + head * 2u * params.headDim;',
    replace: '  var source = row * params.qStride + head * params.headDim;',
  },
  { name: 'keys weighed like queries', gate: 3, find: '    weights = params.headDim;', replace: '    weights = 0u;' },
  { name: 'rows of keys side by side', gate: 3, find: 'row * params.kStride', replace: 'row * params.kvHeads * params.headDim' },
  { name: 'last level of the tree dropped', gate: 3, find: '    if (lane < apart) {', replace: '    if (lane < apart && apart > 1u) {' },
  {
    name: 'eps outside the root',
    gate: 3,
    find: 'inverseSqrt(sums[0] / f32(params.headDim) + params.eps)',
    replace: 'inverseSqrt(sums[0] / f32(params.headDim)) + params.eps',
  },
  { name: 'turned the other way', gate: 3, find: '-(turning[i + half] * table[', replace: '(turning[i + half] * table[' },
  { name: 'neighbours paired', gate: 3, find: 'turning[i - half] * table[angle + i]', replace: 'turning[i - 1u] * table[angle + i]' },
  { name: 'position ignored', gate: 3, find: '  let at = position[0] + row;', replace: '  let at = row;' },
  {
    name: 'read past the table',
    gate: 3,
    find: '    if (at < params.context) {',
    replace: '    if (at <= params.context) {',
  },
  {
    name: 'last key element not written',
    gate: 2,
    find: '      k[destination + i] = made;',
    replace: '      if (i + 1u < params.headDim) { k[destination + i] = made; }',
  },
  {
    name: 'gates of rotated elements not written',
    gate: 2,
    find: '      gate[destination + i] =',
    replace: '      if (i < params.rotary) { continue; } gate[destination + i] =',
  },
  { name: 'squares kept in fp16', gate: 4, find: '    sum = fma(value, value, sum);', replace: '    sum = quantizeToF16(sum + value * value);' },
  {
    name: 'tree kept in bf16',
    gate: 4,
    find: '      sums[lane] += sums[lane + apart];',
    replace: '      sums[lane] = bitcast<f32>((bitcast<u32>(sums[lane] + sums[lane + apart]) + 0x8000u) & 0xffff0000u);',
  },
];
