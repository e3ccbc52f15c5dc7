import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'last output not written', gate: 2, find: 'output < params.n) {', replace: 'output + 1u < params.n) {' },
  { name: 'an output past the last', gate: 2, find: 'output < params.n) {', replace: 'output <= params.n) {' },
  { name: 'up’s rows begin where gate’s end', gate: 3, find: 'select(0u, params.upRow, isUp)', replace: 'select(0u, params.n, isUp)' },
  { name: 'gate and up swapped', gate: 3, find: 'let isUp = team >= HALF;', replace: 'let isUp = team < HALF;' },
  { name: 'no silu', gate: 3, find: 'gate * sigmoid(gate) * team_sum', replace: 'gate * team_sum' },
  { name: 'no up', gate: 3, find: ' * team_sum(HALF * OUTPUTS + lane);', replace: ';' },
  {
    name: 'the row not normed',
    gate: 3,
    find: 'stage_share(normed(share, weight, scale), lane, params.k);',
    replace: 'stage_share(normed(share, weight, 1.0), lane, params.k);',
  },
  { name: 'eps left out', gate: 3, find: 'norm_scale(squared, params.k, params.eps, lane);', replace: 'norm_scale(squared, params.k, 0.0, lane);' },
  { name: 'second block has the first one’s weights', gate: 3, find: 'select(first, after, then == 0u)', replace: 'first' },
  { name: 'up in fp16', gate: 4, find: ' * team_sum(HALF * OUTPUTS + lane);', replace: ' * quantizeToF16(team_sum(HALF * OUTPUTS + lane));' },
  { name: 'entry point renamed', gate: 1, find: 'fn main(', replace: 'fn moved(' },
];
