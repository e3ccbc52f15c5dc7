import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';

export type ArgmaxShape = Readonly<{ n: number }>;

const LANES = 256;

const PARAMS: readonly ParamSpec[] = [{ name: 'n', type: 'u32' }];

/**
 * Greedy choice with a finite check. logits: n float32 values, read as their bits (u32), so that no driver may fold a NaN
 * away; result u32 [4] = [id, 1 when all are finite, first index that is not finite or 0xffffffff, 0].
 */
export const argmax: Kernel<ArgmaxShape> = {
  name: 'argmax',
  group: 'greedy',
  summary: 'lowest index of the largest finite logit, and the first non-finite one',
  bindings: [
    { name: 'logits', access: 'read', type: 'u32' },
    { name: 'result', access: 'read_write', type: 'u32' },
  ],
  includes: ['logit-bits'],
  params: PARAMS,
  variants: ['one-group'],
  sizes: ({ n }) => ({ logits: n, result: 4 }),
  launch: ({ n }, variant = 'one-group'): Launch => {
    if (variant !== 'one-group') throw new LaunchRefused(`argmax has no variant ${variant}; it has one-group`);
    if (n < 1) throw new LaunchRefused(`argmax serves n >= 1; got ${n}`);
    return {
      kernel: 'argmax',
      variant,
      entryPoint: 'argmax',
      constants: {},
      params: packParams(PARAMS, { n }),
      workgroups: [1, 1, 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: LANES * 4 * 3,
    };
  },
};
