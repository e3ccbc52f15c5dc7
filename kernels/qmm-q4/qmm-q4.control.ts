import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  {
    name: 'dropped term',
    gate: 3,
    find: '  sum = step(sum, word >> 28u, scale, bias, b.w);',
    replace: '  sum = step(sum, (word >> 28u) & 14u, scale, bias, b.w);',
  },
  {
    name: 'scale of the next group',
    gate: 3,
    find: '  return bf16_half(scales[index >> 1u], index);',
    replace: '  return bf16_half(scales[(index + 1u) >> 1u], index + 1u);',
  },
  {
    name: 'last column not written',
    gate: 2,
    find: '  return Place(linear / blocks, (linear % blocks) * COLUMNS + lane);',
    replace: '  return Place(linear / blocks, select((linear % blocks) * COLUMNS + lane, params.n, (linear % blocks) * COLUMNS + lane == params.n - 1u));',
  },
  {
    name: 'one variant rounds in another order',
    gate: 2,
    find: '      sum = dot8(sum, words.y, scale, bias, x_vec4[i + 2u], x_vec4[i + 3u]);',
    replace: '      sum += dot8(0.0, words.y, scale, bias, x_vec4[i + 2u], x_vec4[i + 3u]);',
  },
  { name: 'entry point renamed', gate: 1, find: 'fn vec4_loads(', replace: 'fn vec4_load(' },
  {
    name: 'sum kept in fp16',
    gate: 4,
    find: '  return fma(value, fma(scale, f32(i32(code & 15u)), bias), sum);',
    replace: '  return quantizeToF16(fma(value, fma(scale, f32(i32(code & 15u)), bias), sum));',
  },
];
