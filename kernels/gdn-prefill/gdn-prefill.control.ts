import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'no decay', gate: 3, find: '      row[t] *= decay;', replace: '      row[t] *= 1.0;' },
  { name: 'write strength forgotten', gate: 3, find: 'let delta = beta[gate] * (value - old);', replace: 'let delta = value - old;' },
  { name: 'old value not recalled', gate: 3, find: 'let delta = beta[gate] * (value - old);', replace: 'let delta = beta[gate] * value;' },
  { name: 'wrong key head', gate: 3, find: 'head * params.kHeads / params.vHeads', replace: 'head % params.kHeads' },
  {
    name: 'last lane not summed',
    gate: 3,
    find: 'old += recalled[first + l];',
    replace: 'old += select(recalled[first + l], 0.0, l == LANES - 1u);',
  },
  { name: 'last value not written', gate: 2, find: '  if (held && lane == 0u) {', replace: '  if (held && lane == 0u && j + 1u < params.dv) {' },
  { name: 'half the columns', gate: 1, find: '@compute @workgroup_size(LANES, COLUMNS)', replace: '@compute @workgroup_size(8, 4)' },
  { name: 'recall kept in fp16', gate: 4, find: '      recall = fma(row[t]', replace: '      recall = quantizeToF16(recall); recall = fma(row[t]' },
  { name: 'answer kept in fp16', gate: 4, find: '      answer = fma(row[t]', replace: '      answer = quantizeToF16(answer); answer = fma(row[t]' },
];
