import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** `rows` is 1. `taps` includes the current row: tap taps−1 is the current one, tap 0 the oldest. */
export type Conv1dDecodeShape = {
  readonly rows: number;
  readonly channels: number;
  readonly taps: number;
};

const PARAMS: readonly ParamSpec[] = [
  { name: 'channels', type: 'u32' },
  { name: 'taps', type: 'u32' },
];

/**
 * One token of the causal depthwise convolution without bias, then silu. `weight` is [channels, taps] in
 * float32; `state` is [taps−1, channels], oldest first, and holds raw columns (before the convolution and silu).
 */
export const conv1dDecode: Kernel<Conv1dDecodeShape> = {
  name: 'conv1d-decode',
  group: 'gdn',
  summary: 'out[r,c] = silu(Σ_t weight[c,t] · column[r+t,c]) over state columns followed by x; state ← the last taps−1 columns',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'weight', access: 'read', type: 'f32' },
    { name: 'state', access: 'read_write', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['sigmoid'],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ rows, channels, taps }) => ({ x: rows * channels, weight: channels * taps, state: (taps - 1) * channels, out: rows * channels }),
  launch: ({ rows, channels, taps }, variant = 'default') => {
    refuseUnless(variant === 'default', 'conv1d-decode', `has no variant ${variant}, only default`);
    refuseUnless(rows === 1, 'conv1d-decode', 'serves one row (conv1d-prefill serves more)');
    refuseUnless(taps >= 2, 'conv1d-decode', 'needs at least 2 taps, since one tap has no state to bind');
    refuseUnless(channels <= MAX_WORKGROUPS * 64, 'conv1d-decode', `serves up to ${MAX_WORKGROUPS * 64} channels`);
    return {
      kernel: 'conv1d-decode',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { channels, taps }),
      workgroups: [Math.ceil(channels / 64), 1, 1],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 0,
    };
  },
};
