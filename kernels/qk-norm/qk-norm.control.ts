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
  {
    name: 'eps outside the root',
    gate: 3,
    find: 'inverseSqrt(sums[0] / f32(params.headDim) + params.eps)',
    replace: 'inverseSqrt(sums[0] / f32(params.headDim)) + params.eps',
  },
  { name: 'heads side by side', gate: 3, find: ' + head * params.headStride;', replace: ' + head * params.headDim;' },
  {
    name: 'last element not written',
    gate: 2,
    find: '    out[destination + i] = x[source + i] * factor * weight[i];',
    replace: '    if (i + 1u < params.headDim) { out[destination + i] = x[source + i] * factor * weight[i]; }',
  },
];
