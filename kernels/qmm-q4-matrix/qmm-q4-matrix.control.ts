import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'entry point renamed', gate: 1, find: 'fn matrix_tile(', replace: 'fn matrix_tiles(' },
  { name: 'last column not written', gate: 2, find: 'first_col + c < params.n) {', replace: 'first_col + c + 1u < params.n) {' },
  { name: 'rows written past the last', gate: 2, find: '    if (r < params.rows &&', replace: '    if (r <= params.rows &&' },
  { name: 'a factor overwritten while in use', gate: 3, find: '    // The next step', replace: '    tile_w[put_w] = vec4<u32>(); // The next step' },
  { name: 'codes around 7', gate: 3, find: 'vec2<f16>(1032.0h)', replace: 'vec2<f16>(1031.0h)' },
  { name: 'scale of the first group in every group', gate: 3, find: '    scale = group_scale(pair);', replace: '    scale = group_scale(pair0);' },
  {
    name: 'second part over other weights',
    gate: 3,
    find: 'select(pair + 1u, pair0, pair + 1u == pair0 + groups)',
    replace: 'min(pair + 1u, pair0 + groups - 1u)',
  },
  { name: 'second half of a sum left out', gate: 3, find: 'vec2<f16>(f16(near), f16(value - near))', replace: 'vec2<f16>(f16(near), 0.0h)' },
  { name: 'groups past the last counted', gate: 3, find: '0.015625, g + 1u < groups)', replace: '0.015625, true)' },
  {
    name: 'far rows have the near ones',
    gate: 3,
    find: '&tile_x, left_at + 48u * STRIDE + 6u, STRIDE);',
    replace: '&tile_x, left_at + 32u * STRIDE + 6u, STRIDE);',
  },
  { name: 'column not scaled', gate: 3, find: 'clamp(7 - most, -126, 126)', replace: '0' },
  { name: 'rows that are not finite in silence', gate: 3, find: 'row_exponent == NOT_FINITE ||', replace: 'row_exponent == 1 + NOT_FINITE ||' },
  { name: 'a power of two at once', gate: 3, find: '* power(t / 2) * power(t - t / 2);', replace: '* power(t);' },
  {
    name: 'sum taken to fp16',
    gate: 4,
    find: '= bitcast<f32>(tile_x[start + i / 4u][i % 4u]) *',
    replace: '= quantizeToF16(bitcast<f32>(tile_x[start + i / 4u][i % 4u])) *',
  },
];
