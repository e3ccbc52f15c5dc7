import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
  { name: 'a chunk without a key merged', gate: 3, find: '+ KEYS - 1u) / KEYS;', replace: '+ 2u * KEYS - 1u) / KEYS;' },
  { name: 'largest score missed', gate: 3, find: 'top = max(top, tops[i]);', replace: 'top = max(top, tops[i / 2u]);' },
  { name: 'weights not divided out', gate: 3, find: 'both.y / both.x * sigmoid', replace: 'both.y * sigmoid' },
  {
    name: 'first chunk unshrunk',
    gate: 3,
    find: '      weights[lane] = select(0.0, exp(stats[own] - top), c + lane < chunks);',
    replace: '      weights[lane] = select(0.0, select(exp(stats[own] - top), 1.0, c + lane == 0u), c + lane < chunks);',
  },
  { name: 'query taken for the gate', gate: 3, find: 'params.headDim + params.headDim + element];', replace: 'params.headDim + element];' },
  { name: 'weights of the first 64 chunks for all', gate: 3, find: '    if (c % LANES == 0u) {', replace: '    if (c == 0u) {' },
  { name: 'fourth chunk of eight dropped', gate: 3, find: 'both = merged(both, c + 3u, chunks, now.near.w);', replace: '' },
  { name: 'last chunk added twice', gate: 3, find: '  for (var c = 0u; c < chunks; c += 8u) {', replace: '  for (var c = 0u; c < chunks; c += 7u) {' },
  {
    name: 'last element not written',
    gate: 2,
    find: '  if (group.x * LANES + lane < params.headDim) {',
    replace: '  if (group.x * LANES + lane + 1u < params.headDim || params.headDim == 1u) {',
  },
  {
    name: 'numerator kept in fp16',
    gate: 4,
    find: '  return fma(vec2<f32>(weights[c % LANES]), vec2<f32>(lengths[c % LANES], select(0.0, value, c < chunks)), both);',
    replace: '  return quantizeToF16(fma(vec2<f32>(weights[c % LANES]), vec2<f32>(lengths[c % LANES], select(0.0, value, c < chunks)), both));',
  },
];
