import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'last level of the tree dropped', gate: 3, find: '    if (lane < half) {', replace: '    if (lane < half && half > 1u) {' },
  {
    name: 'eps outside the root',
    gate: 3,
    find: 'inverseSqrt(partial[0] / f32(params.n) + params.eps)',
    replace: 'inverseSqrt(partial[0] / f32(params.n)) + params.eps',
  },
  {
    name: 'tail not written',
    gate: 2,
    find: '    out[start + i] = x[start + i] * scale * weight[i];',
    replace: '    if (i + 1u < params.n) { out[start + i] = x[start + i] * scale * weight[i]; }',
  },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(128)', replace: '@compute @workgroup_size(64)' },
  {
    name: 'squares kept in fp16',
    gate: 4,
    find: '    squares = fma(value, value, squares);',
    replace: '    squares = quantizeToF16(fma(value, value, squares));',
  },
  {
    name: 'tree kept in bf16',
    gate: 4,
    find: '      partial[lane] += partial[lane + half];',
    replace: '      partial[lane] = bitcast<f32>((bitcast<u32>(partial[lane] + partial[lane + half]) + 0x8000u) & 0xffff0000u);',
  },
];
