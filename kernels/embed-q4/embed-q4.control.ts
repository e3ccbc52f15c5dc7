import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'the id just past the table is read', gate: 3, find: '  if (id >= params.vocab) {', replace: '  if (id > params.vocab) {' },
  { name: 'a row of another part is zeroed', gate: 3, find: '    if (params.first > 0u) {', replace: '    if (params.first > 0xfffffffeu) {' },
  { name: 'ids count from 0 in every part', gate: 3, find: 'ids[row] - params.first;', replace: 'ids[row];' },
  { name: 'highest nibble first', gate: 3, find: '(word >> (4u * i)) & 15u', replace: '(word >> (28u - 4u * i)) & 15u' },
  { name: 'scale of group 0 throughout', gate: 3, find: '+ column / 8u;', replace: '+ column / 8000u;' },
  { name: 'last row not written', gate: 2, find: '  if (row >= params.rows) {', replace: '  if (row + 1u >= params.rows) {' },
  { name: 'a zero row is not written', gate: 2, find: '      out[place + i] = 0.0;', replace: '      out[place + i] = out[place + i];' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
