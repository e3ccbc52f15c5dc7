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
    find: '  return fma(value, weight(code, scale, bias), sum);',
    replace: '  return quantizeToF16(fma(value, weight(code, scale, bias), sum));',
  },
  {
    name: 'sum of four rows kept in fp16',
    gate: 4,
    find: '  return fma(a.w, w.w, fma(a.z, w.z, fma(a.y, w.y, fma(a.x, w.x, sum))));',
    replace: '  return quantizeToF16(fma(a.w, w.w, fma(a.z, w.z, fma(a.y, w.y, fma(a.x, w.x, sum)))));',
  },
  {
    name: 'four products added on their own',
    gate: 2,
    find: '  return fma(a.w, w.w, fma(a.z, w.z, fma(a.y, w.y, fma(a.x, w.x, sum))));',
    replace: '  return sum + fma(a.w, w.w, fma(a.z, w.z, fma(a.y, w.y, a.x * w.x)));',
  },
  { name: 'a row written past the last', gate: 2, find: '  let live = min(params.rows - first, 4u);', replace: '  let live = 4u;' },
  { name: 'last row of four not written', gate: 2, find: '  let live = min(params.rows - first, 4u);', replace: '  let live = min(params.rows - first, 3u);' },
  { name: 'third row of four read for the fourth', gate: 3, find: 'add4(sums.w, x_vec4[at.w], w));', replace: 'add4(sums.w, x_vec4[at.z], w));' },
  {
    name: 'fourth column has the scale of the third',
    gate: 3,
    find: 'group_scale(at.z), group_scale(at.w));',
    replace: 'group_scale(at.z), group_scale(at.z));',
  },
  {
    name: 'fourth column not written',
    gate: 2,
    find: '  let live = min((params.n - col + COLUMNS - 1u) / COLUMNS, 4u);',
    replace: '  let live = min((params.n - col + COLUMNS - 1u) / COLUMNS, 3u);',
  },
];
