import { LaunchRefused, packParams, type Kernel, type Launch, type ParamSpec } from '../contract.ts';

export type LogitsChecksumShape = Readonly<{ n: number }>;

const LANES = 256;

const PARAMS: readonly ParamSpec[] = [{ name: 'n', type: 'u32' }];

/**
 * Order-sensitive checksum of a logits row, so that a timed pass can be held to an untimed one by reading eight bytes.
 * logits: n float32 values, read as their bits (u32); result u32 [2].
 */
export const logitsChecksum: Kernel<LogitsChecksumShape> = {
  name: 'logits-checksum',
  group: 'greedy',
  summary: 'two sums mod 2³² of the position-mixed bits of each logit',
  bindings: [
    { name: 'logits', access: 'read', type: 'u32' },
    { name: 'result', access: 'read_write', type: 'u32' },
  ],
  includes: ['logit-checksum'],
  params: PARAMS,
  variants: ['one-group'],
  sizes: ({ n }) => ({ logits: n, result: 2 }),
  launch: ({ n }, variant = 'one-group'): Launch => {
    if (variant !== 'one-group') throw new LaunchRefused(`logits-checksum has no variant ${variant}; it has one-group`);
    if (n < 1) throw new LaunchRefused(`logits-checksum serves n >= 1; got ${n}`);
    return {
      kernel: 'logits-checksum',
      variant,
      entryPoint: 'logits_checksum',
      constants: {},
      params: packParams(PARAMS, { n }),
      workgroups: [1, 1, 1],
      workgroupSize: [LANES, 1, 1],
      workgroupBytes: LANES * 4 * 2,
    };
  },
};
