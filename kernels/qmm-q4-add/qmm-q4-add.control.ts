import type { Control } from '../contract.ts';
import { SPLIT_VARIANTS } from '../shared/split-k.ts';

/** How a slice is added lies in includes. */
const FLOATS = 'shared/split-float.wgsl';
const FIXED = 'shared/split-fixed.wgsl';
const HALVES = Object.keys(SPLIT_VARIANTS).filter((name) => SPLIT_VARIANTS[name]!.halves);

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
  {
    name: 'x of halves in one unit at every place',
    gate: 3,
    variants: HALVES,
    file: FLOATS,
    find: 'vec4<u32>(0x4b800000u, 0x4b800000u, 0x4f800000u, 0x4f800000u)',
    replace: 'vec4<u32>(0x4b800000u)',
  },
  {
    name: 'bias of halves times x in its unit',
    gate: 3,
    variants: HALVES,
    file: FLOATS,
    find: 'vec4<f32>(0x1p-24, 0x1p-24, 0x1p-32, 0x1p-32)',
    replace: 'vec4<f32>(1.0)',
  },
  {
    name: 'third code of halves is the first',
    gate: 3,
    variants: HALVES,
    file: FLOATS,
    find: '      unpack2x16float(next & 0x000f000fu).x,',
    replace: '      unpack2x16float(word & 0x000f000fu).x,',
  },
  {
    name: 'fixed: digit 1 of the odd elements is digit 0',
    gate: 3,
    family: 'fixed',
    file: FIXED,
    find: 'dot4I8Packed(odd, b.x)',
    replace: 'dot4I8Packed(odd, b.y)',
  },
  { name: 'fixed: digits without their signs', gate: 3, family: 'fixed', file: FIXED, find: ' ^ vec3<u32>(0x80808080u)', replace: '' },
  { name: 'fixed: unit of another exponent', gate: 3, family: 'fixed', file: FIXED, find: '(e - 21u) << 23u,', replace: '(e - 20u) << 23u,' },
  { name: 'fixed: what is not finite passes', gate: 3, family: 'fixed', file: FIXED, find: 'let finite = e < 255u;', replace: 'let finite = e < 256u;' },
  {
    name: 'fixed: x above the largest of its eight',
    gate: 3,
    family: 'fixed',
    file: FIXED,
    find: 'let top = max(max(tops.x, tops.y), max(tops.z, tops.w));',
    replace: 'let top = tops.x;',
  },
  {
    name: 'fixed: sum of the last eight dropped',
    gate: 3,
    family: 'fixed',
    file: FIXED,
    find: '(bitcast<f32>(b2.w) + bitcast<f32>(b3.w))',
    replace: 'bitcast<f32>(b2.w)',
  },
  { name: 'fixed: two digits for three', gate: 3, family: 'fixed', file: FIXED, find: '(d.x * 256 + d.y) * 256 + d.z', replace: '(d.x * 256 + d.y) * 256' },
  {
    name: 'fixed: one variant adds in another order',
    gate: 2,
    family: 'fixed',
    file: FIXED,
    find: 'made.y = add_slice(made.y, s1, (at + slices) >> 1u, by_digits(d1) * unit, total);',
    replace: 'made.y += add_slice(0.0, s1, (at + slices) >> 1u, by_digits(d1) * unit, total);',
  },
  { name: 'entry point renamed', gate: 1, find: 'fn main(', replace: 'fn moved(' },
];
