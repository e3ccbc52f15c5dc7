import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'taps reversed', gate: 3, find: 'weight[channel * params.taps + tap]', replace: 'weight[channel * params.taps + past - tap]' },
  {
    name: 'oldest tap dropped',
    gate: 3,
    find: '    for (var tap = 0u; tap < params.taps; tap++) {',
    replace: '    for (var tap = 1u; tap < params.taps; tap++) {',
  },
  { name: 'state of a short chunk lost', gate: 3, find: '    let c = params.rows + i;', replace: '    let c = max(params.rows, past) + i;' },
  { name: 'silu forgotten', gate: 3, find: ' = sum * sigmoid(sum);', replace: ' = sum;' },
  { name: 'last row not written', gate: 2, find: 'row < min(params.rows, ', replace: 'row < min(params.rows - 1u, ' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
  {
    name: 'sum kept in fp16',
    gate: 4,
    find: '      sum = fma(weight[channel * params.taps + tap], value, sum);',
    replace: '      sum = quantizeToF16(sum + weight[channel * params.taps + tap] * value);',
  },
];
