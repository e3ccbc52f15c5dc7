/** WebGPU's guaranteed maxComputeWorkgroupsPerDimension. */
const MOST_PER_DIMENSION = 65535;

/** Where folding starts: a sixteenth of what must be folded, so that a contract reaches the folded path with a sixteenth of the work. */
const FOLD_FROM = 4096;

/**
 * Folds a list of `groups` workgroups into a grid whose every side fits any WebGPU device. The grid may hold more groups
 * than the list: the shader finds its place with `linear_group` (shared/linear-group.wgsl) and returns when past the end.
 * @param groups number of workgroups, 1 to 65,535².
 */
export function foldGrid(groups: number): readonly [number, number, number] {
  if (groups < FOLD_FROM) return [groups, 1, 1];
  const rows = Math.max(Math.ceil(groups / MOST_PER_DIMENSION), Math.min(Math.ceil(groups / FOLD_FROM), MOST_PER_DIMENSION));
  return [Math.ceil(groups / rows), rows, 1];
}
