/** What gdn-prefill and gdn-decode promise alike: fills, expectations with running error bounds, and the replay of their sums. */
import type { BoundedOutput, Contents, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from './bounds.ts';
import { expRelative } from './sigmoid-bounds.ts';

export type DeltaRuleShape = {
  readonly rows: number;
  readonly kHeads: number;
  readonly vHeads: number;
  readonly dk: number;
  readonly dv: number;
  readonly vStride: number;
  readonly vOffset: number;
};

/** Contents by binding that every kernel of the rule reads. */
export type DeltaRuleInputs = Readonly<Record<'q' | 'k' | 'v' | 'g' | 'beta' | 'state', Float32Array>>;
type DeltaRuleReference = (shape: DeltaRuleShape, inputs: DeltaRuleInputs) => { out: Float64Array; state: Float64Array };

/** Lanes that share a row of the state. */
const LANES = 8;

/** Roundings on the shaders' longest path of a dot of `dk` products: the product, a lane's additions, the lanes. */
export function dotDepth(dk: number): number {
  return 4 * Math.ceil(dk / (4 * LANES)) + LANES;
}

function fill(
  name: string,
  kind: Fill['kind'],
  numbers: (random: Random, dk: number) => Readonly<Record<keyof DeltaRuleInputs, () => number>>,
): Fill<DeltaRuleShape> {
  return {
    name,
    kind,
    make: ({ rows, kHeads, vHeads, dk, dv, vStride }, random) => {
      const next = numbers(random, dk);
      const array = (length: number, number: () => number) => Float32Array.from({ length }, number);
      return {
        q: array(rows * kHeads * dk, next.q),
        k: array(rows * kHeads * dk, next.k),
        v: array(rows * vStride, next.v),
        g: array(rows * vHeads, next.g),
        beta: array(rows * vHeads, next.beta),
        state: array(vHeads * dv * dk, next.state),
      };
    },
  };
}

/** Keys are at most of length 1 wherever β may be 1, so that β·k·kᵀ never grows the state and long chunks stay in range. */
export const deltaRuleFills: readonly Fill<DeltaRuleShape>[] = [
  fill('spread', 'spread', (random, dk) => ({
    q: () => random.decades(1e-3, 1) / dk,
    k: () => random.decades(1e-2, 1) / Math.sqrt(dk),
    v: () => random.decades(1e-3, 10),
    g: () => -(10 ** random.uniform(-4, 1)),
    beta: () => random.uniform(0, 1),
    state: () => random.decades(1e-3, 1),
  })),
  // From dk = 64 on S·k passes 65504; β is so small that the state keeps its size.
  fill('stress', 'stress', (random, dk) => ({
    q: () => random.uniform(8, 16),
    k: () => random.uniform(8, 16),
    v: () => random.uniform(-1, 1),
    g: () => random.uniform(-0.01, 0),
    beta: () => random.uniform(0.1, 1) / (dk * 256),
    state: () => random.uniform(100, 200),
  })),
  fill('classes', 'classes', (random, dk) => ({
    q: () => random.uniform(0.5, 1) / dk,
    k: () => random.uniform(0.5, 1) / Math.sqrt(dk),
    v: () => (random.integer(0, 9) === 0 ? random.pick([NaN, Infinity, -Infinity, 1e-40]) : random.pick([0, -0, 1, -2])),
    g: () => random.pick([0, -0, -200, -Infinity, -1]),
    beta: () => random.pick([0.25, 0.5, 1]),
    state: () => random.pick([0, -0, 1e-40, 1, -1]),
  })),
];

export const DELTA_RULE_BOUNDS =
  'A running bound beside the reference: every element of the state carries what it may be off by, E. The decay adds exp’s 3 + 2|g| ULP and a rounding to it; S·k and S·q add γ_m·Σ|S·k| to ' +
  'Σ|k|·E, m = dk in any order with u = 2⁻²³ (spec), or the shader’s ceil(dk/8) + 8 with u = 2⁻²⁴ (depth); δ = β(v − S·k) adds two roundings, S + δk two more. So the bound grows with the rows, as the ' +
  'error can. Everything that a driver may flush adds 2⁻¹²⁶ times what it is multiplied with.';

/** Expected `out` and `state`. */
export function deltaRuleExpect(reference: DeltaRuleReference, shape: DeltaRuleShape, contents: Contents): Record<'out' | 'state', BoundedOutput> {
  const inputs = contents as unknown as DeltaRuleInputs;
  const { out, state } = reference(shape, inputs);
  const spec = runningBounds(shape, inputs, U_SPEC, shape.dk);
  const depth = runningBounds(shape, inputs, U_NEAREST, dotDepth(shape.dk));
  return {
    out: { kind: 'bounded', values: out, spec: spec.out, depth: depth.out },
    state: { kind: 'bounded', values: state, spec: spec.state, depth: depth.state },
  };
}

/** What each input of the rule may be off by already; absent: nothing. The state is taken as it lies in memory. */
export type DeltaRuleErrors = Readonly<Record<'q' | 'k' | 'v' | 'g' | 'beta', ArrayLike<number>>>;

/**
 * What `out` and `state` may be off by, see DELTA_RULE_BOUNDS.
 * @param u relative error of one rounding.
 * @param path roundings on the longest path of a dot of dk products.
 */
export function runningBounds(
  shape: DeltaRuleShape,
  inputs: Readonly<Record<keyof DeltaRuleInputs, ArrayLike<number>>>,
  u: number,
  path: number,
  errors?: DeltaRuleErrors,
): { out: Float64Array; state: Float64Array } {
  const { rows, kHeads, vHeads, dk, dv, vStride, vOffset } = shape;
  const values = Float64Array.from(inputs.state);
  const state = new Float64Array(values.length);
  const out = new Float64Array(rows * vHeads * dv);
  const dot = gamma(path, u);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < vHeads; head++) {
      const key = (row * kHeads + Math.floor((head * kHeads) / vHeads)) * dk;
      const g = inputs.g[row * vHeads + head]!;
      const beta = inputs.beta[row * vHeads + head]!;
      const gError = errors?.g[row * vHeads + head] ?? 0;
      const betaError = errors?.beta[row * vHeads + head] ?? 0;
      const decay = Math.exp(g);
      const mostDecay = Math.exp(Math.min(g + gError, 0));
      // |g| past 110 makes the decay zero in float32 with room to spare, whatever exp's error.
      const decayError = mostDecay - decay + expRelative(Math.min(Math.abs(g), 110)) * mostDecay;
      for (let j = 0; j < dv; j++) {
        const base = (head * dv + j) * dk;
        let recall = 0;
        let recallError = 0;
        for (let i = 0; i < dk; i++) {
          const kError = errors?.k[key + i] ?? 0;
          const k = Math.abs(inputs.k[key + i]!) + kError;
          const before = Math.abs(values[base + i]!);
          const after = (values[base + i]! *= decay);
          const error = (decay + decayError) * state[base + i]! + decayError * before;
          state[base + i] = error + u * (Math.abs(after) + error) + FLUSH * (before + 2);
          recall += after * inputs.k[key + i]!;
          recallError += k * state[base + i]! + kError * Math.abs(after) + dot * k * (Math.abs(after) + state[base + i]!) + FLUSH * (k + Math.abs(after) + 1);
        }
        const value = row * vStride + vOffset + head * dv + j;
        const difference = inputs.v[value]! - recall;
        const delta = beta * difference;
        const moved = recallError + (errors?.v[value] ?? 0);
        const differenceError = moved + u * (Math.abs(difference) + moved) + FLUSH;
        const product = (beta + betaError) * differenceError + betaError * Math.abs(difference);
        const deltaError = product + u * (Math.abs(delta) + product) + FLUSH * (Math.abs(difference) + 1);
        let outError = 0;
        for (let i = 0; i < dk; i++) {
          const kError = errors?.k[key + i] ?? 0;
          const qError = errors?.q[key + i] ?? 0;
          const k = Math.abs(inputs.k[key + i]!) + kError;
          const q = Math.abs(inputs.q[key + i]!) + qError;
          const written = Math.abs(delta) + deltaError;
          const after = (values[base + i]! += delta * inputs.k[key + i]!);
          const error = state[base + i]! + k * deltaError + kError * Math.abs(delta) + u * k * written + FLUSH * (k + written + 1);
          state[base + i] = error + u * (Math.abs(after) + error);
          outError += q * state[base + i]! + qError * Math.abs(after) + dot * q * (Math.abs(after) + state[base + i]!) + FLUSH * (q + Math.abs(after) + 1);
        }
        out[(row * vHeads + head) * dv + j] = finite(outError);
      }
    }
  }
  return { out, state: state.map(finite) };
}

/** Where a value is NaN or infinite its class is due, and no bound applies. */
function finite(bound: number): number {
  return Number.isFinite(bound) ? bound : 0;
}

/** `out` and `state` of one row with the additions of S·k and S·q passed through `round`: 8 strided lanes, then the lanes in order. */
export function deltaRuleReplay(
  shape: DeltaRuleShape,
  inputs: Readonly<Record<keyof DeltaRuleInputs, ArrayLike<number>>>,
  round: (value: number) => number,
): { out: Float64Array; state: Float64Array } {
  const { kHeads, vHeads, dk, dv, vOffset } = shape;
  if (shape.rows !== 1) throw new Error('the replay is of one row');
  const out = new Float64Array(vHeads * dv);
  const state = new Float64Array(vHeads * dv * dk);
  const sum = (term: (i: number) => number): number => {
    const lanes = new Float64Array(LANES);
    for (let i = 0; i < dk; i++) {
      const lane = Math.floor(i / 4) % LANES;
      lanes[lane] = round(lanes[lane]! + term(i));
    }
    return lanes.reduce((a, b) => round(a + b));
  };
  for (let row = 0; row < vHeads * dv; row++) {
    const head = Math.floor(row / dv);
    const key = Math.floor((head * kHeads) / vHeads) * dk;
    const decay = Math.exp(inputs.g[head]!);
    const recall = sum((i) => decay * inputs.state[row * dk + i]! * inputs.k[key + i]!);
    const delta = inputs.beta[head]! * (inputs.v[vOffset + row]! - recall);
    for (let i = 0; i < dk; i++) state[row * dk + i] = decay * inputs.state[row * dk + i]! + delta * inputs.k[key + i]!;
    out[row] = sum((i) => state[row * dk + i]! * inputs.q[key + i]!);
  }
  return { out, state };
}

/** `out` of `deltaRuleReplay`, for contents. */
export function deltaRuleReplayOut(shape: DeltaRuleShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { q, k, v, g, beta, state } = contents as DeltaRuleInputs;
  return deltaRuleReplay(shape, { q, k, v, g, beta, state }, round).out;
}
