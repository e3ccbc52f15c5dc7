import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'residual dropped', gate: 3, find: 'residual[base + lane] + team_sum(lane);', replace: 'team_sum(lane);' },
  { name: 'residual of the first output', gate: 3, find: 'residual[base + lane]', replace: 'residual[base]' },
  {
    name: 'sum with the residual in fp16',
    gate: 4,
    find: 'residual[base + lane] + team_sum(lane);',
    replace: 'quantizeToF16(residual[base + lane] + team_sum(lane));',
  },
  { name: 'last output not written', gate: 2, find: 'base + lane < params.n) {', replace: 'base + lane + 1u < params.n) {' },
  { name: 'an output past the last', gate: 2, find: 'base + lane < params.n) {', replace: 'base + lane <= params.n) {' },
  {
    name: 'second stage has the first one’s x',
    gate: 3,
    find: 'share = share_of_x(0u, params.k, stage + 1u, lane);',
    replace: 'share = share_of_x(0u, params.k, stage, lane);',
  },
  {
    name: 'second stage has the first one’s weights',
    gate: 3,
    find: 'next = hold(first, params.n, lane % TEAM, stage + 1u, slices);',
    replace: 'next = hold(first, params.n, lane % TEAM, stage, slices);',
  },
  { name: 'outputs of one in place of several', gate: 2, find: '  let first = base + lane / TEAM * OUTPUTS;', replace: '  let first = base + lane / TEAM;' },
  { name: 'entry point renamed', gate: 1, find: 'fn main(', replace: 'fn moved(' },
];
