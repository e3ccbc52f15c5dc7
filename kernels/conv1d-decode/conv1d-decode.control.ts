import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'current row dropped', gate: 3, find: '  sum = fma(weight[channel * params.taps + past], current, sum);', replace: '  sum += 0.0 * current;' },
  { name: 'state not moved', gate: 3, find: '    if (tap > 0u) {', replace: '    if (tap > 1u) {' },
  {
    name: 'silu result kept as state',
    gate: 3,
    find: ' * params.channels + channel] = current;',
    replace: ' * params.channels + channel] = sum * sigmoid(sum);',
  },
  { name: 'last channel not written', gate: 2, find: '  if (channel >= params.channels) {', replace: '  if (channel + 1u >= params.channels) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
  {
    name: 'sum kept in fp16',
    gate: 4,
    find: '    sum = fma(weight[channel * params.taps + tap], value, sum);',
    replace: '    sum = quantizeToF16(sum + weight[channel * params.taps + tap] * value);',
  },
];
