/** WebGPU's guaranteed maxComputeWorkgroupsPerDimension. */
const MOST_PER_DIMENSION = 65535;

/**
 * Folds a list of `groups` workgroups into a grid whose every side fits any WebGPU device. The grid may hold more groups
 * than the list: the shader finds its place with `linear_group` (shared/linear-group.wgsl) and returns when past the end.
 * @param groups number of workgroups, at least 1.
 */
export function foldGrid(groups: number): readonly [number, number, number] {
  if (groups <= MOST_PER_DIMENSION) return [groups, 1, 1];
  const rows = Math.ceil(groups / MOST_PER_DIMENSION);
  return [Math.ceil(groups / rows), rows, 1];
}
