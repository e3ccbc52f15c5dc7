import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'state kept without decay', gate: 3, find: '      kept *= carry[live - 1u];', replace: '      kept *= 1.0;' },
  { name: 'writes do not fade', gate: 3, find: 'fade[lane] = exp(after);', replace: 'fade[lane] = 1.0;' },
  {
    name: 'rows of a chunk do not see each other',
    gate: 3,
    find: 'sum = select(sum, sum + mix[i * WIDTH + m] * residues[m * COLUMNS + column], m <= i);',
    replace: 'sum = residues[slot];',
  },
  {
    name: 'answer without the chunk’s own writes',
    gate: 3,
    find: 'answer = select(answer, answer + mix[i * WIDTH + ROWS + m] * written[m * COLUMNS + column], m <= i);',
    replace: '',
  },
  { name: 'wrong key head', gate: 3, find: 'head * params.kHeads / params.vHeads', replace: 'head % params.kHeads' },
  {
    name: 'last chunk forgotten',
    gate: 2,
    find: 'for (var start = 0u; start < params.rows; start += ROWS) {',
    replace: 'for (var start = 0u; start + ROWS < params.rows; start += ROWS) {',
  },
  { name: 'half the rows', gate: 1, find: '@compute @workgroup_size(COLUMNS, ROWS, HALVES)', replace: '@compute @workgroup_size(8, 8, 2)' },
  { name: 'recall kept in fp16', gate: 4, find: '        recalls += ', replace: '        recalls = quantizeToF16(recalls); recalls += ' },
  { name: 'answer kept in fp16', gate: 4, find: '        answers += ', replace: '        answers = quantizeToF16(answers); answers += ' },
];
