import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  {
    name: 'later keys attended',
    gate: 3,
    find: '  let attended = vec4<u32>(start + column) < limits;',
    replace: '  let attended = vec4<u32>(start + column) < vec4<u32>(count);',
  },
  { name: 'later values met', gate: 3, find: '      if (skipped == 0u) {', replace: '      if (skipped < 9u) {' },
  { name: 'scale forgotten', gate: 3, find: ' scores * params.scale, attended);', replace: ' scores, attended);' },
  { name: 'values not rescaled', gate: 3, find: '    near = shrunk(near, low_shrink, high_shrink);', replace: '' },
  { name: 'denominator not rescaled', gate: 3, find: '    low_total *= low_shrink;', replace: '' },
  { name: 'wrong key-value head', gate: 3, find: 'head * params.kvHeads / params.heads * params.headDim;', replace: 'head % params.kvHeads * params.headDim;' },
  { name: 'last row not written', gate: 2, find: 'min(first + 8u, params.rows)', replace: 'min(first + 8u, params.rows - 1u)' },
  { name: 'wide heads half written', gate: 2, find: '    write_rows(block_row, head, dimension + 256u, far, low_total, high_total);', replace: '' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(LANES)', replace: '@compute @workgroup_size(128)' },
  {
    name: 'score kept in fp16',
    gate: 4,
    find: '        scores = fma(vec4<f32>(keys[i',
    replace: '        scores = quantizeToF16(scores); scores = fma(vec4<f32>(keys[i',
  },
  {
    name: 'values kept in fp16',
    gate: 4,
    find: '        near = added(near, low, high, v);',
    replace: '        near = added(near, low, high, v); near.r0 = quantizeToF16(near.r0);',
  },
];
