/** The geometry of shared/split-k.wgsl, for launches. */

/** Lanes of a workgroup; 32 of them share an output. */
export const SPLIT_LANES = 256;

/** Bytes of workgroup memory: 576 vectors of staged x, 1,152 sums of lanes, 256 sums of four lanes. */
export const SPLIT_BYTES = 576 * 16 + 1152 * 4 + 256 * 4;

/** Bytes of workgroup memory that shared/norm-stage.wgsl adds: 256 sums of squares, 16 sums of those. */
export const NORM_STAGE_BYTES = (256 + 16) * 4;

/** One way to split k over lanes. */
export interface SplitVariant {
  /** Its variants are byte-identical: `split-k` adds a slice in floats, `fixed` in integers. */
  readonly family: 'split-k' | 'fixed';
  /** Outputs of 32 lanes: 1, 2 or 4. */
  readonly outputs: number;
  /** Codes pass through halves too small for a normal one, which WGSL lets a device read as 0: see split-float.wgsl. */
  readonly halves: boolean;
}

/** By name. */
export const SPLIT_VARIANTS: Readonly<Record<string, SplitVariant>> = {
  split: { family: 'split-k', outputs: 1, halves: false },
  'split-2': { family: 'split-k', outputs: 2, halves: false },
  'split-4': { family: 'split-k', outputs: 4, halves: false },
  'split-2h': { family: 'split-k', outputs: 2, halves: true },
  'split-4h': { family: 'split-k', outputs: 4, halves: true },
  fixed: { family: 'fixed', outputs: 1, halves: false },
  'fixed-2': { family: 'fixed', outputs: 2, halves: false },
  'fixed-4': { family: 'fixed', outputs: 4, halves: false },
};

/** The variants of each family. */
export const SPLIT_FAMILIES = {
  'split-k': Object.keys(SPLIT_VARIANTS).filter((name) => SPLIT_VARIANTS[name]!.family === 'split-k'),
  fixed: Object.keys(SPLIT_VARIANTS).filter((name) => SPLIT_VARIANTS[name]!.family === 'fixed'),
} as const;

/** What kernels include for them. */
export const SPLIT_INCLUDES = ['bf16', 'split-k', 'split-float', 'split-fixed'] as const;

/** Outputs of a workgroup. */
export function outputsOf({ outputs }: SplitVariant): number {
  return (SPLIT_LANES / 32) * outputs;
}

const STAGED = 2048;

/** Pipeline constants of a row of k elements. */
export function splitConstants({ family, outputs, halves }: SplitVariant, k: number): Record<string, number> {
  return { OUTPUTS: outputs, STAGES: Math.ceil(k / STAGED), HALVES: Number(halves), FIXED: Number(family === 'fixed') };
}

/** Up to here every block of outputs has a workgroup. */
const MOST_GROUPS = 512;

/** Two workgroups a multiprocessor of an H200 (132): a launch of more blocks goes round on as many, so that norming the row costs less. */
const GROUPS = 264;

/** How many workgroups make `all` blocks of outputs, and how many blocks each. */
export function inBlocks(all: number): { groups: number; blocks: number } {
  const blocks = all <= MOST_GROUPS ? 1 : Math.ceil(all / GROUPS);
  return { groups: Math.ceil(all / blocks), blocks };
}
