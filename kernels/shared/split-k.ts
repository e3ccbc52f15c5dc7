/** The geometry of shared/split-k.wgsl, for launches. */

/** Lanes of a workgroup; 32 of them share an output. */
export const SPLIT_LANES = 256;

/** Bytes of workgroup memory: 576 vectors of staged x, 1,152 sums of lanes, 256 sums of four lanes. */
export const SPLIT_BYTES = 576 * 16 + 1152 * 4 + 256 * 4;

/** Bytes of workgroup memory that shared/norm-stage.wgsl adds: 256 sums of squares, 16 sums of those. */
export const NORM_STAGE_BYTES = (256 + 16) * 4;

/** Outputs of 32 lanes, by variant; all variants are byte-identical. */
export const SPLIT_VARIANTS: Readonly<Record<string, number>> = { split: 1, 'split-2': 2, 'split-4': 4 };

/** Outputs of a workgroup whose every 32 lanes make `outputs`. */
export function outputsOf(outputs: number): number {
  return (SPLIT_LANES / 32) * outputs;
}

const STAGED = 2048;

/** Pipeline constants of a row of k elements. */
export function splitConstants(outputs: number, k: number): Record<string, number> {
  return { OUTPUTS: outputs, STAGES: Math.ceil(k / STAGED) };
}

/** Workgroups that fill any GPU of today: from there on each makes more blocks of outputs, so that norming the row costs less. */
const MOST_GROUPS = 512;

/** How many workgroups make `all` blocks of outputs, and how many blocks each. */
export function inBlocks(all: number): { groups: number; blocks: number } {
  const blocks = Math.ceil(all / MOST_GROUPS);
  return { groups: Math.ceil(all / blocks), blocks };
}
