import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** logits f32 [n] as u32 bits; parts u32 [spans, 5]. */
export type GreedyPartsShape = Readonly<{ n: number }>;

const SPAN = 1024;
const LANES = 256;
const WORDS = 5;

const PARAMS: readonly ParamSpec[] = [{ name: 'n', type: 'u32' }];

/** How many spans `n` logits have. */
export function spansOf(n: number): number {
  return Math.ceil(n / SPAN);
}

/** What argmax and logits-checksum find in each span of 1,024 logits: [key, lowest index, first not finite, checksum a, checksum b]. */
export const greedyParts: Kernel<GreedyPartsShape> = {
  name: 'greedy-parts',
  group: 'greedy',
  summary: 'per span of 1,024 logits: the largest finite one and its lowest index, the first that is not finite, two checksums',
  bindings: [
    { name: 'logits', access: 'read', type: 'u32' },
    { name: 'parts', access: 'read_write', type: 'u32' },
  ],
  includes: ['logit-bits', 'logit-checksum', 'greedy-tree'],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ n }) => ({ logits: n, parts: spansOf(n) * WORDS }),
  launch: ({ n }, variant = 'default') => {
    refuseUnless(variant === 'default', 'greedy-parts', `has no variant ${variant}, only default`);
    refuseUnless(n >= 1 && spansOf(n) <= MAX_WORKGROUPS, 'greedy-parts', `serves 1 to ${MAX_WORKGROUPS * SPAN} logits; got ${n}`);
    return {
      kernel: 'greedy-parts',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { n }),
      workgroups: [spansOf(n), 1, 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: 4 * 5 * LANES,
    };
  },
};
