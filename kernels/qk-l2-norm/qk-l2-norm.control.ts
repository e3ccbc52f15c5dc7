import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'last level of the tree dropped', gate: 3, find: '    if (lane < apart) {', replace: '    if (lane < apart && apart > 1u) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(LANES)', replace: '@compute @workgroup_size(32)' },
  { name: 'squares kept in fp16', gate: 4, find: '    sum = fma(value, value, sum);', replace: '    sum = quantizeToF16(sum + value * value);' },
  {
    name: 'tree kept in bf16',
    gate: 4,
    find: '      sums[lane] += sums[lane + apart];',
    replace: '      sums[lane] = bitcast<f32>((bitcast<u32>(sums[lane] + sums[lane + apart]) + 0x8000u) & 0xffff0000u);',
  },
  { name: 'mean instead of sum', gate: 3, find: 'inverseSqrt(sums[0] + params.eps)', replace: 'inverseSqrt(sums[0] / f32(params.dk) + params.eps)' },
  {
    name: 'scale forgotten',
    gate: 3,
    find: '      q[destination + i] = x[source + i] * factor * params.scale;',
    replace: '      q[destination + i] = x[source + i] * factor;',
  },
  {
    name: 'last key element not written',
    gate: 2,
    find: '      k[destination + i] = x[source + i] * factor;',
    replace: '      if (i + 1u < params.dk) { k[destination + i] = x[source + i] * factor; }',
  },
];
