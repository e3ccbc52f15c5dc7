import { packParams, type Kernel, type ParamSpec } from '../contract.ts';
import { MAX_WORKGROUPS, refuseUnless } from '../shared/refuse-unless.ts';

/**
 * One token. x is the joint projection of `width` elements: [q | k | v] of 2·kHeads·dk + vHeads·dv channels from 0 on, z [vHeads·dv], a and
 * b [vHeads] from their offsets on. Value head h uses key head floor(h · kHeads / vHeads).
 */
export type GdnStepShape = {
  readonly kHeads: number;
  readonly vHeads: number;
  readonly dk: number;
  readonly dv: number;
  readonly taps: number;
  readonly width: number;
  readonly zOffset: number;
  readonly aOffset: number;
  readonly bOffset: number;
  readonly eps: number;
};

/** Widest key and value that a lane's registers hold. */
const MOST = 128;
const L2_EPS = 1e-6;

const PARAMS: readonly ParamSpec[] = [
  { name: 'kHeads', type: 'u32' },
  { name: 'vHeads', type: 'u32' },
  { name: 'zOffset', type: 'u32' },
  { name: 'aOffset', type: 'u32' },
  { name: 'bOffset', type: 'u32' },
  { name: 'scale', type: 'f32' },
  { name: 'l2Eps', type: 'f32' },
  { name: 'eps', type: 'f32' },
];

/** Whether gdn-step serves heads of these sizes; where not, its chain does. */
export function gdnStepServes({ kHeads, vHeads, dk, dv, taps }: Pick<GdnStepShape, 'kHeads' | 'vHeads' | 'dk' | 'dv' | 'taps'>): boolean {
  return taps >= 2 && taps <= 4 && dk % 32 === 0 && dk <= MOST && dv <= MOST && vHeads % kHeads === 0;
}

/**
 * A Gated DeltaNet of one token between its projections. `gates` is [A_log | dt_bias] of vHeads each, `norm` the gated norm's weight [dv];
 * convState [taps − 1, channels] oldest first; state [vHeads, dv, dk].
 */
export const gdnStep: Kernel<GdnStepShape> = {
  name: 'gdn-step',
  group: 'fused',
  summary: '[q|k|v] = silu(conv(x)); q, k normed; S ← e^g·S; S ← S + β(v − S k)kᵀ; out = rmsnorm(S q)·norm·silu(z)',
  bindings: [
    { name: 'x', access: 'read', type: 'f32' },
    { name: 'convWeight', access: 'read', type: 'f32' },
    { name: 'gates', access: 'read', type: 'f32' },
    { name: 'norm', access: 'read', type: 'f32' },
    { name: 'convState', access: 'read_write', type: 'f32' },
    { name: 'state', access: 'read_write', type: 'f32' },
    { name: 'out', access: 'read_write', type: 'f32' },
  ],
  includes: ['sigmoid', 'softplus'],
  params: PARAMS,
  variants: ['default'],
  sizes: ({ kHeads, vHeads, dk, dv, taps, width }) => {
    const channels = 2 * kHeads * dk + vHeads * dv;
    return {
      x: width,
      convWeight: channels * taps,
      gates: 2 * vHeads,
      norm: dv,
      convState: (taps - 1) * channels,
      state: vHeads * dv * dk,
      out: vHeads * dv,
    };
  },
  launch: (shape, variant = 'default') => {
    const { kHeads, vHeads, dk, dv, taps, width, zOffset, aOffset, bOffset, eps } = shape;
    refuseUnless(variant === 'default', 'gdn-step', `has no variant ${variant}, only default`);
    refuseUnless(
      gdnStepServes(shape),
      'gdn-step',
      `serves keys of a multiple of 32 and values, up to ${MOST} wide, whole groups of value heads and two to four taps`,
    );
    refuseUnless(kHeads <= MAX_WORKGROUPS, 'gdn-step', `serves at most ${MAX_WORKGROUPS} key heads`);
    const channels = 2 * kHeads * dk + vHeads * dv;
    const ends = [channels, zOffset + vHeads * dv, aOffset + vHeads, bOffset + vHeads];
    refuseUnless(Math.max(...ends) <= width, 'gdn-step', `needs every part within the row of ${width}`);
    return {
      kernel: 'gdn-step',
      variant,
      entryPoint: 'main',
      constants: { DK: dk, DV: dv, TAPS: taps },
      params: packParams(PARAMS, { kHeads, vHeads, zOffset, aOffset, bOffset, scale: dk ** -0.5, l2Eps: L2_EPS, eps }),
      workgroups: [kHeads, 1, 1],
      workgroupSize: [256, 1, 1],
      workgroupBytes: 4 * (4 * 128 + 16 + 2 * 1024 + 2),
    };
  },
};
