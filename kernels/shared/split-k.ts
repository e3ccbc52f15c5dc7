/** The geometry of shared/split-k.wgsl, for launches. */

/** Lanes of a workgroup; 32 of them share an output. */
export const SPLIT_LANES = 256;

/** Bytes of workgroup memory: 576 vectors of staged x, 1,152 sums of lanes, 256 sums of four lanes. */
export const SPLIT_BYTES = 576 * 16 + 1152 * 4 + 256 * 4;

/** Bytes of workgroup memory that shared/norm-stage.wgsl adds: 256 sums of squares, 16 sums of those. */
export const NORM_STAGE_BYTES = (256 + 16) * 4;

/** One way to compute family split-k. */
export interface SplitVariant {
  /** Outputs of 32 lanes: 1, 2 or 4. */
  readonly outputs: number;
  /** Codes pass through halves too small for a normal one, which WGSL lets a device read as 0: see split-k.wgsl. */
  readonly halves: boolean;
}

/** By name; all are byte-identical. */
export const SPLIT_VARIANTS: Readonly<Record<string, SplitVariant>> = {
  split: { outputs: 1, halves: false },
  'split-2': { outputs: 2, halves: false },
  'split-4': { outputs: 4, halves: false },
  'split-2h': { outputs: 2, halves: true },
  'split-4h': { outputs: 4, halves: true },
};

/** Outputs of a workgroup. */
export function outputsOf({ outputs }: SplitVariant): number {
  return (SPLIT_LANES / 32) * outputs;
}

const STAGED = 2048;

/** Pipeline constants of a row of k elements. */
export function splitConstants({ outputs, halves }: SplitVariant, k: number): Record<string, number> {
  return { OUTPUTS: outputs, STAGES: Math.ceil(k / STAGED), HALVES: Number(halves) };
}

/** Workgroups that fill any GPU of today: from there on each makes more blocks of outputs, so that norming the row costs less. */
const MOST_GROUPS = 512;

/** How many workgroups make `all` blocks of outputs, and how many blocks each. */
export function inBlocks(all: number): { groups: number; blocks: number } {
  const blocks = Math.ceil(all / MOST_GROUPS);
  return { groups: Math.ceil(all / blocks), blocks };
}
