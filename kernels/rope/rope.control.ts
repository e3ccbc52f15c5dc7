import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'turned the other way', gate: 3, find: '-(x[base + i + half] * table[', replace: '(x[base + i + half] * table[' },
  { name: 'position ignored', gate: 3, find: '  let at = position[0] + row;', replace: '  let at = row;' },
  { name: 'neighbours paired', gate: 3, find: 'x[base + i - half] * table[angle + i]', replace: 'x[base + i - 1u] * table[angle + i]' },
  { name: 'rest not copied', gate: 2, find: '    out[base + i] = value;', replace: '    if (i < params.rotary) { out[base + i] = value; }' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
