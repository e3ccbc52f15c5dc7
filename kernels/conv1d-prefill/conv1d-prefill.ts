import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/** Rows of `x` are tokens, `stride` floats apart. `taps` includes the current row: tap taps−1 is the current one, tap 0 the oldest. */
export type Conv1dPrefillShape = {
  readonly rows: number;
  readonly channels: number;
  readonly taps: number;
  readonly stride: number;
};

/** Rows of a lane. */
const BLOCK = 16;

const PARAMS: readonly ParamSpec[] = [
  { name: 'rows', type: 'u32' },
  { name: 'channels', type: 'u32' },
  { name: 'taps', type: 'u32' },
  { name: 'stride', type: 'u32' },
];

/**
 * Causal depthwise convolution without bias, then silu, over a chunk of rows; one lane walks one channel. `weight` is [channels, taps] in
 * float32; `state` is [taps−1, channels], oldest first, and holds raw columns (before the convolution and silu).
 */
export const conv1dPrefill: Kernel<Conv1dPrefillShape> = {
  name: 'conv1d-prefill',
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
  sizes: ({ rows, channels, taps, stride }) => ({ x: rows * stride, weight: channels * taps, state: (taps - 1) * channels, out: rows * channels }),
  touched: ({ rows, channels }) => ({ x: rows * channels }),
  launch: ({ rows, channels, taps, stride }, variant = 'default') => {
    refuseUnless(variant === 'default', 'conv1d-prefill', `has no variant ${variant}, only default`);
    refuseUnless(rows >= 1, 'conv1d-prefill', 'needs at least one row');
    refuseUnless(stride >= channels, 'conv1d-prefill', 'needs its channels within a row');
    refuseUnless(taps >= 2, 'conv1d-prefill', 'needs at least 2 taps, since one tap has no state to bind');
    refuseUnless(taps <= BLOCK + 1, 'conv1d-prefill', `serves up to ${BLOCK + 1} taps, so that only the first block of rows meets the state`);
    refuseUnless(
      channels <= MAX_WORKGROUPS * 64 && rows <= MAX_WORKGROUPS * BLOCK,
      'conv1d-prefill',
      `serves up to ${MAX_WORKGROUPS * 64} channels and ${MAX_WORKGROUPS * BLOCK} rows`,
    );
    return {
      kernel: 'conv1d-prefill',
      variant,
      entryPoint: 'main',
      constants: {},
      params: packParams(PARAMS, { rows, channels, taps, stride }),
      workgroups: [Math.ceil(channels / 64), Math.ceil(rows / BLOCK), 1],
      workgroupSize: [64, 1, 1],
      workgroupBytes: 0,
    };
  },
};
