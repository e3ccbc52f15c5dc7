import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(256)', replace: '@compute @workgroup_size(128)' },
  {
    name: 'newest key not attended',
    gate: 3,
    find: '  let keys = min(position[0] + 1u, params.context);',
    replace: '  let keys = max(min(position[0], params.context), 1u);',
  },
  { name: 'chunks past the position written', gate: 3, find: '  if (start >= keys) {', replace: '  if (start >= keys + 32u) {' },
  {
    name: 'last quarter of a vector dropped',
    gate: 3,
    find: 'fma(queries[vector][3], vec4<f32>(k.w), made)',
    replace: 'fma(queries[vector][3], vec4<f32>(0.0), made)',
  },
  {
    name: 'later heads take the first four’s queries',
    gate: 3,
    find: '  let base = (kvHead * params.group + first) * HEAD_DIM + element;',
    replace: '  let base = kvHead * params.group * HEAD_DIM + element;',
  },
  { name: 'last part of a score dropped', gate: 3, find: ' + parts[key][7];', replace: ';' },
  { name: 'values past the count weighed', gate: 3, find: '  return select(0.0, value, key < count);', replace: '  return value;' },
  {
    name: 'last slice dropped',
    gate: 3,
    find: '        made += parts[(s * HEAD_DIM + dimension) / 8u][dimension % 8u];',
    replace: '        made += select(parts[(s * HEAD_DIM + dimension) / 8u][dimension % 8u], vec4<f32>(), s + 1u == SLICES);',
  },
  {
    name: 'last dimension not written',
    gate: 2,
    find: '    write_sum(kvHead, chunk, first, dimension, made.x);',
    replace: '    write_sum(kvHead, chunk, first, min(dimension, HEAD_DIM - 2u), made.x);',
  },
  {
    name: 'score kept in fp16',
    gate: 4,
    find: '  var made = fma(queries[vector][0], vec4<f32>(k.x), start);',
    replace: '  var made = quantizeToF16(fma(queries[vector][0], vec4<f32>(k.x), start));',
  },
];
