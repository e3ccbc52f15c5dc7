import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  { name: 'naive softplus', gate: 3, find: '  return max(x, 0.0) + 2.0 * z * series;', replace: '  return log(1.0 + exp(x)) + 0.0 * series;' },
  { name: 'series cut short', gate: 3, find: ' + s * (1.0 / 7.0 + s * (1.0 / 9.0 + s * (1.0 / 11.0 + s * (1.0 / 13.0 + s / 15.0))))));', replace: '));' },
  { name: 'bias forgotten', gate: 3, find: 'softplus(a[i] + dtBias[head]);', replace: 'softplus(a[i]);' },
  { name: 'decay that grows', gate: 3, find: '  g[i] = -exp(', replace: '  g[i] = exp(' },
  { name: 'last gate not written', gate: 2, find: '  if (i >= params.rows * params.vHeads) {', replace: '  if (i + 1u >= params.rows * params.vHeads) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
