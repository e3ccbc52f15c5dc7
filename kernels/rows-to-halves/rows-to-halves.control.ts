import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'entry point renamed', gate: 1, find: 'fn to_halves(', replace: 'fn to_half(' },
  { name: 'last row not written', gate: 2, find: '  if (row >= params.rows) {', replace: '  if (row + 1u >= params.rows) {' },
  { name: 'ties away from even', gate: 3, find: '0xfffu + ((bits >> 13u) & 1u)', replace: '0xfffu + 1u' },
  { name: 'small elements not flushed', gate: 3, find: '(bits & 0x7f800000u) < 0x38800000u', replace: '(bits & 0x7f800000u) < 0x38000000u' },
  { name: 'elements of a word in order', gate: 3, find: 'vec4<u32>(pair(n0, n4), pair(n1, n5)', replace: 'vec4<u32>(pair(n0, n1), pair(n4, n5)' },
  { name: 'second part left out', gate: 3, find: 'let left = pair(rest(v3, n3), rest(v7, n7));', replace: 'let left = 0u;' },
  { name: 'sign forgotten in the largest', gate: 3, find: 'let magnitudes = bits & vec4<u32>(0x7fffffffu);', replace: 'let magnitudes = bits;' },
  { name: 'infinities overflow in silence', gate: 3, find: '  let finite = top != 255u;', replace: '  let finite = top != 256u;' },
  { name: 'exponent not limited', gate: 3, find: 'min(141 - i32(top), 126)', replace: '141 - i32(top)' },
  { name: 'last eight not summed', gate: 3, find: '      for (var i = 1u; i < 8u; i++) {', replace: '      for (var i = 1u; i < 7u; i++) {' },
  { name: 'sum kept in fp16', gate: 4, find: '        sum += eighths[lane + i];', replace: '        sum = quantizeToF16(sum + eighths[lane + i]);' },
];
