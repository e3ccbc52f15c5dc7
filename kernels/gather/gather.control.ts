import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'the id just past the table is read', gate: 3, find: '  if (id < params.entries) {', replace: '  if (id <= params.entries) {' },
  { name: 'an id past the table is held inside it', gate: 3, find: '  let id = ids[row];', replace: '  let id = min(ids[row], params.entries - 1u);' },
  { name: 'the row is taken for its id', gate: 3, find: '  let id = ids[row];', replace: '  let id = row;' },
  { name: 'a zero row is not written', gate: 2, find: '  var word = 0u;', replace: '  var word = out[index];' },
  { name: 'last row not written', gate: 2, find: '  if (row >= params.rows) {', replace: '  if (row + 1u >= params.rows) {' },
  { name: 'a row too many', gate: 2, find: '  if (row >= params.rows) {', replace: '  if (row > params.rows) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
