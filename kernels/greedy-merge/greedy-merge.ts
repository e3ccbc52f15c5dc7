import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { refuseUnless } from '../shared/refuse-unless.ts';

/** parts u32 [spans, 5] as greedy-parts leaves them; result u32 [4] as argmax's, checksum u32 [2] as logits-checksum's. */
export type GreedyMergeShape = Readonly<{ spans: number }>;

const LANES = 256;

const PARAMS: readonly ParamSpec[] = [{ name: 'spans', type: 'u32' }];

/** Merges the spans of greedy-parts into argmax's result and the checksum. */
export const greedyMerge: Kernel<GreedyMergeShape> = {
  name: 'greedy-merge',
  group: 'greedy',
  summary: 'result = [id, 1 if all finite, first not finite, 0] and checksum over all spans',
  bindings: [
    { name: 'parts', access: 'read', type: 'u32' },
    { name: 'result', access: 'read_write', type: 'u32' },
    { name: 'checksum', access: 'read_write', type: 'u32' },
  ],
  includes: ['greedy-tree'],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ spans }) => ({ parts: spans * 5, result: 4, checksum: 2 }),
  launch: ({ spans }, variant = 'default') => {
    refuseUnless(variant === 'default', 'greedy-merge', `has no variant ${variant}, only default`);
    refuseUnless(spans >= 1, 'greedy-merge', `serves one span or more; got ${spans}`);
    return {
      kernel: 'greedy-merge',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { spans }),
      workgroups: [1, 1, 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 4 * 5 * LANES,
    };
  },
};
