import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'query taken for the gate', gate: 3, find: ' + params.gateOffset + i];', replace: ' + i];' },
  { name: 'gate not squashed', gate: 3, find: '  out[at] = attn[at] * sigmoid(gate);', replace: '  out[at] = attn[at] * gate;' },
  {
    name: 'sigmoid that overflows',
    gate: 3,
    find: '  out[at] = attn[at] * sigmoid(gate);',
    replace: '  out[at] = attn[at] * (exp(gate) / (1.0 + exp(gate)));',
  },
  { name: 'last element not written', gate: 2, find: '  if (i >= params.headDim) {', replace: '  if (i + 1u >= params.headDim) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
