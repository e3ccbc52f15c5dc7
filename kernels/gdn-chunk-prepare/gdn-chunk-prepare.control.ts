import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'no decay', gate: 3, find: 'let decay = exp(log_decay);', replace: 'let decay = 1.0;' },
  { name: 'decay from one row too early', gate: 3, find: 'for (var t = m + 1u; t <= i; t++) {', replace: 'for (var t = m; t <= i; t++) {' },
  { name: 'write strength of the wrong row', gate: 3, find: 'beta[row * params.vHeads + head]', replace: 'beta[(start + m) * params.vHeads + head]' },
  { name: 'inverse cut after its first power', gate: 3, find: '* inverse[t * ROWS + m];', replace: '* select(0.0, inverse[t * ROWS + m], t == m);' },
  { name: 'wrong key head', gate: 3, find: 'head * params.kHeads / params.vHeads', replace: 'head % params.kHeads' },
  { name: 'last row not written', gate: 2, find: '  mixes[at + ROWS] = weight;', replace: '  if (row + 1u < params.rows) { mixes[at + ROWS] = weight; }' },
  { name: 'half the rows', gate: 1, find: '@compute @workgroup_size(ROWS, ROWS)', replace: '@compute @workgroup_size(16, 8)' },
  { name: 'products kept in fp16', gate: 4, find: '      query_key += queries', replace: '      query_key = quantizeToF16(query_key); query_key += queries' },
];
