import type { Control } from '../contract.ts';

export const controls: readonly Control[] = [
  {
    name: 'naive softplus',
    gate: 3,
    file: 'shared/softplus.wgsl',
    find: '  return fma(2.0 * z, series, max(x, 0.0));',
    replace: '  return log(1.0 + exp(x)) + 0.0 * series;',
  },
  {
    name: 'series cut short',
    gate: 3,
    file: 'shared/softplus.wgsl',
    find: '  series = fma(s, series, 1.0 / 5.0);',
    replace: '  series = 1.0 / 5.0 + 0.0 * series;',
  },
  { name: 'bias forgotten', gate: 3, find: 'softplus(a[base + params.aOffset] + dtBias[head]);', replace: 'softplus(a[base + params.aOffset]);' },
  { name: 'decay that grows', gate: 3, find: '  g[i] = -exp(', replace: '  g[i] = exp(' },
  { name: 'last gate not written', gate: 2, find: '  if (i >= params.rows * params.vHeads) {', replace: '  if (i + 1u >= params.rows * params.vHeads) {' },
  { name: 'half the lanes', gate: 1, find: '@compute @workgroup_size(64)', replace: '@compute @workgroup_size(32)' },
];
