import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'last branch dropped', gate: 3, find: '    whole += branches[i];', replace: '    whole += select(branches[i], 0.0, i == 15u);' },
  {
    name: 'eps outside the root',
    gate: 3,
    find: 'inverseSqrt(whole / f32(params.n) + params.eps)',
    replace: 'inverseSqrt(whole / f32(params.n)) + params.eps',
  },
  {
    name: 'tail not written',
    gate: 2,
    find: '    out[start + i] = x[start + i] * scale * weight[i];',
    replace: '    if (i + 1u < params.n) { out[start + i] = x[start + i] * scale * weight[i]; }',
  },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(256)', replace: '@compute @workgroup_size(128)' },
  {
    name: 'squares kept in fp16',
    gate: 4,
    find: '      sum = fma(value, value, sum);',
    replace: '      sum = quantizeToF16(fma(value, value, sum));',
  },
  {
    name: 'branches kept in bf16',
    gate: 4,
    find: '      branch += squares[lane * 16u + i];',
    replace: '      branch = bitcast<f32>((bitcast<u32>(branch + squares[lane * 16u + i]) + 0x8000u) & 0xffff0000u);',
  },
];
