/** What conv1d-prefill and conv1d-decode promise alike: fills, expectations and the replay of a channel's sum. */
import type { Contents, Expected, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from './bounds.ts';
import { sigmoidRelative } from './sigmoid-bounds.ts';

/** `stride`: floats between rows of x; absent: its channels. */
export type Conv1dShape = { readonly rows: number; readonly channels: number; readonly taps: number; readonly stride?: number };
type Conv1dReference<S extends Conv1dShape> = (
  shape: S,
  inputs: { x: Float32Array; weight: Float32Array; state: Float32Array },
) => { out: Float64Array; state: Float64Array };

function fill(name: string, kind: Fill['kind'], column: (random: Random) => number, weight: (random: Random) => number): Fill<Conv1dShape> {
  return {
    name,
    kind,
    make: ({ rows, channels, taps, stride = channels }, random) => ({
      x: Float32Array.from({ length: rows * stride }, () => column(random)),
      weight: Float32Array.from({ length: channels * taps }, () => weight(random)),
      state: Float32Array.from({ length: (taps - 1) * channels }, () => column(random)),
    }),
  };
}

export const conv1dFills: readonly Fill<Conv1dShape>[] = [
  fill(
    'spread',
    'spread',
    (random) => random.decades(1e-3, 20),
    (random) => random.decades(1e-2, 2),
  ),
  fill(
    'saturated',
    'spread',
    (random) => random.decades(1e3, 1e30),
    (random) => random.decades(1e-2, 2),
  ),
  // Two or more terms of 40,000 and more pass 65504; silu of such a sum is the sum.
  fill(
    'stress',
    'stress',
    (random) => random.uniform(2e4, 4e4),
    (random) => random.uniform(2, 4),
  ),
  fill(
    'classes',
    'classes',
    (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, -1e-42, 1, -2, 3, 0.5, -0.25]),
    (random) => random.decades(0.1, 2),
  ),
];

export const CONV1D_BOUNDS =
  'The sum of taps products has |err| ≤ γ_taps·Σ|w·x| in any order, u = 2⁻²³ (spec), and the same in the shader’s serial order, u = 2⁻²⁴ (depth). silu(s) = s·sigmoid(s) moves by at most ' +
  '1.1 of it (the slope of silu is within ±1.1), and adds the sigmoid’s error (shared/sigmoid-bounds.ts) and one product, relative to the result. 2⁻¹²⁶·(1.1·Σ(|w| + |x| + 1) + |s| + 1) for ' +
  'operands, products, exp, sigmoid and result that a driver may flush. The state is copied: every bit is due.';

/** Expected `out` and `state` of either kernel. */
export function conv1dExpect<S extends Conv1dShape>(reference: Conv1dReference<S>, shape: S, contents: Contents): Record<'out' | 'state', Expected> {
  const { x, weight, state } = contents as Record<'x' | 'weight' | 'state', Float32Array>;
  const expected = reference(shape, { x, weight, state });
  const { out } = expected;
  const spec = new Float64Array(out.length);
  const depth = new Float64Array(out.length);
  forEachSum(shape, contents, (at, terms) => {
    let sum = 0;
    let size = 0;
    let least = 1;
    for (const [w, value] of terms) {
      sum += w * value;
      size += Math.abs(w * value);
      least += 1.1 * (Math.abs(w) + Math.abs(value) + 1);
    }
    if (!Number.isFinite(out[at]!)) return;
    const flushed = FLUSH * (least + Math.abs(sum));
    const bound = (u: number) => 1.1 * gamma(shape.taps, u) * size + Math.abs(out[at]!) * (sigmoidRelative(sum, u) + u) * (1 + 2 ** -12) + flushed;
    spec[at] = bound(U_SPEC);
    depth[at] = bound(U_NEAREST);
  });
  return {
    out: { kind: 'bounded', values: out, spec, depth },
    state: { kind: 'exact', bits: new Uint32Array(Float32Array.from(expected.state).buffer) },
  };
}

/** `out` with every addition of a channel's sum passed through `round`, oldest tap first. */
export function conv1dReplay(shape: Conv1dShape, contents: Contents, round: (value: number) => number): Float64Array {
  const out = new Float64Array(shape.rows * shape.channels);
  forEachSum(shape, contents, (at, terms) => {
    let sum = 0;
    for (const [w, value] of terms) sum = round(sum + w * value);
    out[at] = sum / (1 + Math.exp(-sum));
  });
  return out;
}

function forEachSum(
  { rows, channels, taps, stride = channels }: Conv1dShape,
  contents: Contents,
  visit: (at: number, terms: readonly (readonly [number, number])[]) => void,
): void {
  const { x, weight, state } = contents as Record<'x' | 'weight' | 'state', Float32Array>;
  for (let row = 0; row < rows; row++) {
    for (let channel = 0; channel < channels; channel++) {
      const terms = Array.from({ length: taps }, (_, tap) => {
        const column = row + tap - (taps - 1);
        const value = column < 0 ? state[(column + taps - 1) * channels + channel]! : x[column * stride + channel]!;
        return [weight[channel * taps + tap]!, value] as const;
      });
      visit(row * channels + channel, terms);
    }
  }
}
