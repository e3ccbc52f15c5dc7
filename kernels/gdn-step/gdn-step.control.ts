import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'current column dropped', gate: 3, find: 'sum = fma(column.weights.w, column.current, sum);', replace: 'sum = fma(column.weights.w, 0.0, sum);' },
  {
    name: 'naive softplus',
    gate: 3,
    file: 'shared/softplus.wgsl',
    find: '  return fma(2.0 * z, series, max(x, 0.0));',
    replace: '  return log(1.0 + exp(x)) + 0.0 * series;',
  },
  { name: 'no decay', gate: 3, find: 'let decay = exp(made[0]);', replace: 'let decay = 1.0;' },
  { name: 'wrong key head', gate: 3, find: 'let head = keyHead * ratio + v;', replace: 'let head = keyHead + v * params.kHeads;' },
  { name: 'key of the length of the query', gate: 3, find: 'trunk(1u)', replace: 'trunk(0u)' },
  { name: 'last value not written', gate: 2, find: '      out[head * DV + lane] = answer', replace: '      out[head * DV + min(lane, DV - 2u)] = answer' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(256)', replace: '@compute @workgroup_size(128)' },
  { name: 'recall and answer kept in fp16', gate: 4, find: '  sum = fma(a.w, b.w, sum);', replace: '  sum = quantizeToF16(fma(a.w, b.w, sum));' },
  {
    name: 'squares of answers kept in fp16',
    gate: 4,
    find: '      var sum = fma(answer, answer, 0.0);',
    replace: '      var sum = quantizeToF16(fma(answer, answer, 0.0));',
  },
];
