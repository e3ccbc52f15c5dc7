import type { Control } from '../contract.ts';

/** How the row is normed lies in an include. */
const NORM = 'shared/norm-stage.wgsl';

export const controls: readonly Control[] = [
  { name: 'last output not written', gate: 2, find: 'output < params.n) {', replace: 'output + 1u < params.n) {' },
  { name: 'an output past the last', gate: 2, find: 'output < params.n) {', replace: 'output <= params.n) {' },
  {
    name: 'the row not normed',
    gate: 3,
    find: 'stage_share(normed(share, weight, scale), lane, params.k);',
    replace: 'stage_share(normed(share, weight, 1.0), lane, params.k);',
  },
  { name: 'the norm left out', gate: 3, find: 'stage_share(normed(share, weight, scale), lane, params.k);', replace: 'stage_share(share, lane, params.k);' },
  { name: 'eps left out', gate: 3, find: 'norm_scale(squared, params.k, params.eps, lane);', replace: 'norm_scale(squared, params.k, 0.0, lane);' },
  {
    name: 'mean over one element more',
    gate: 3,
    find: 'norm_scale(squared, params.k, params.eps, lane);',
    replace: 'norm_scale(squared, params.k + 4u, params.eps, lane);',
  },
  {
    name: 'weights of the first stage in every stage',
    gate: 3,
    find: 'params.n, lane % TEAM, then, slices);',
    replace: 'params.n, lane % TEAM, 0u, slices);',
  },
  { name: 'second block has the first one’s weights', gate: 3, find: 'select(first, after, then == 0u)', replace: 'first' },
  { name: 'product in fp16', gate: 4, find: 'y[output] = team_sum(lane);', replace: 'y[output] = quantizeToF16(team_sum(lane));' },
  { name: 'entry point renamed', gate: 1, find: 'fn main(', replace: 'fn moved(' },
  {
    name: 'last branch of the squares dropped',
    gate: 3,
    file: NORM,
    find: '    whole += branches[i];',
    replace: '    whole += select(branches[i], 0.0, i == 15u);',
  },
  {
    name: 'squares of the last lane dropped',
    file: 'shared/norm-stage.wgsl',
    gate: 3,
    find: '  squares[lane / 16u][lane % 16u] = sum;',
    replace: '  squares[lane / 16u][lane % 16u] = select(sum, 0.0, lane == 255u || lane == 0u);',
  },
  { name: 'eps outside the root', gate: 3, file: NORM, find: 'inverseSqrt(whole / f32(k) + eps)', replace: 'inverseSqrt(whole / f32(k)) + eps' },
  {
    name: 'squares kept in fp16',
    gate: 4,
    file: NORM,
    find: '  return fma(v.w, v.w, fma(v.z, v.z, fma(v.y, v.y, fma(v.x, v.x, sum))));',
    replace: '  return quantizeToF16(fma(v.w, v.w, fma(v.z, v.z, fma(v.y, v.y, fma(v.x, v.x, sum)))));',
  },
];
