import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'position ignored', gate: 3, find: '  let at = position[0] + id.y;', replace: '  let at = id.y;' },
  { name: 'key stored as value', gate: 3, find: '= v[id.y * params.vStride + params.vOffset + id.x];', replace: '= k[id.y * width + id.x];' },
  { name: 'last element not written', gate: 2, find: 'id.x >= width ||', replace: 'id.x + 1u >= width ||' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
