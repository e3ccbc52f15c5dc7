import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { conv1dReplay } from '../shared/conv1d-contract.ts';
import { deltaRuleReplay } from '../shared/delta-rule-contract.ts';
import { replaySquares } from '../shared/norm-bounds.ts';
import { gdnStepExpect, type GdnStepInputs } from './gdn-step.bounds.ts';
import { gdnStepReference } from './gdn-step.reference.ts';
import { gdnStep, type GdnStepShape } from './gdn-step.ts';

/** What the device gets: float32 eps. `awkward` has another one, so that it is told from the l2 norm's 1e-6. */
const EPS = Math.fround(1e-6);
const OTHER_EPS = Math.fround(1e-4);

/** Parts of a row `gap` elements apart, z before b before a. */
function sized(kHeads: number, vHeads: number, dk: number, dv: number, taps: number, gap: number): GdnStepShape {
  const zOffset = 2 * kHeads * dk + vHeads * dv + gap;
  const bOffset = zOffset + vHeads * dv + gap;
  const aOffset = bOffset + vHeads + gap;
  return { kHeads, vHeads, dk, dv, taps, width: aOffset + vHeads + gap, zOffset, aOffset, bOffset, eps: EPS };
}

const named = (role: 'served' | 'edge', name: string, ...sizes: [number, number, number, number, number, number]): ContractShape<GdnStepShape> => ({
  name: `${name} ${sizes[0]}/${sizes[1]}x${sizes[2]}x${sizes[3]}x${sizes[4]}`,
  role,
  shape: { ...sized(...sizes), ...(name === 'awkward' && { eps: OTHER_EPS }) },
});

/** Draws one number for the element at `index` of a part; heads are value heads, and key heads for `qk`. */
type Draw = (random: Random, index: number) => number;
type Draws = Readonly<Record<'qk' | 'v' | 'qkState' | 'vState' | 'weight' | 'z' | 'a' | 'b' | 'aLog' | 'dtBias' | 'norm' | 'state', Draw>>;

/** 1e30 lies in the gaps of x: nothing may read it. */
function fill(name: string, kind: Fill['kind'], drawsOf: (shape: GdnStepShape, random: Random) => Draws): Fill<GdnStepShape> {
  return {
    name,
    kind,
    make: (shape, random) => {
      const { kHeads, vHeads, dk, dv, taps, width, zOffset, aOffset, bOffset } = shape;
      const draws = drawsOf(shape, random);
      const array = (length: number, draw: Draw): Float32Array => Float32Array.from({ length }, (_, index) => draw(random, index));
      const [keyed, valued] = [2 * kHeads * dk, vHeads * dv];
      const x = new Float32Array(width).fill(1e30);
      x.set(array(keyed, draws.qk));
      x.set(array(valued, draws.v), keyed);
      x.set(array(valued, draws.z), zOffset);
      x.set(array(vHeads, draws.a), aOffset);
      x.set(array(vHeads, draws.b), bOffset);
      const convState = new Float32Array((taps - 1) * (keyed + valued));
      for (let at = 0; at < convState.length; at += keyed + valued) {
        convState.set(array(keyed, draws.qkState), at);
        convState.set(array(valued, draws.vState), at + keyed);
      }
      const gates = new Float32Array(2 * vHeads);
      gates.set(array(vHeads, draws.aLog));
      gates.set(array(vHeads, draws.dtBias), vHeads);
      return {
        x,
        convWeight: array((keyed + valued) * taps, draws.weight),
        gates,
        norm: array(dv, draws.norm),
        convState,
        state: array(valued * dk, draws.state),
      };
    },
  };
}

const plain: Draws = {
  qk: (random) => random.decades(1e-2, 4),
  qkState: (random) => random.decades(1e-2, 4),
  v: (random) => random.decades(1e-2, 8),
  vState: (random) => random.decades(1e-2, 8),
  weight: (random) => random.decades(1e-2, 2),
  z: (random) => random.decades(1e-2, 20),
  a: (random) => random.uniform(-4, 4),
  b: (random) => random.uniform(-4, 4),
  aLog: (random) => random.uniform(-4, 0.5),
  dtBias: (random) => random.uniform(-3, 1),
  norm: (random) => random.decades(1e-2, 1e2),
  state: (random) => random.decades(1e-2, 2),
};

const fills: readonly Fill<GdnStepShape>[] = [
  fill('spread', 'spread', () => plain),
  // Heads down to where either epsilon decides, gates shut and wide open.
  fill('faint', 'spread', () => ({
    ...plain,
    qk: (random) => random.decades(1e-5, 1e-3),
    qkState: (random) => random.decades(1e-5, 1e-3),
    v: (random) => random.decades(1e-4, 1e-2),
    vState: (random) => random.decades(1e-4, 1e-2),
    // exp of the first head's would overflow.
    a: (random, head) => (head === 0 ? 150 : random.pick([-1, 1]) * random.uniform(0.1, 60)),
    b: (random) => random.pick([-1, 1]) * random.uniform(0.1, 60),
    aLog: (random) => random.uniform(-6, -3),
    state: (random) => random.decades(1e-4, 1e-2),
  })),
  // Sums of two taps and more, squares, S·k from 64 elements on and squares of answers pass 65504.
  fill('stress', 'stress', () => ({
    ...plain,
    qk: (random) => random.uniform(2e4, 4e4),
    qkState: (random) => random.uniform(2e4, 4e4),
    v: (random) => random.uniform(2e4, 4e4),
    vState: (random) => random.uniform(2e4, 4e4),
    weight: (random) => random.uniform(1, 2),
    z: (random) => random.uniform(1, 4),
    a: (random) => random.uniform(-2, 0),
    b: (random) => random.uniform(-4, -2),
    aLog: (random) => random.uniform(-4, -2),
    norm: (random) => random.uniform(1, 2),
    state: (random) => random.uniform(2e4, 4e4),
  })),
  fill('classes', 'classes', ({ vHeads, dk, dv, kHeads }, random) => {
    const first = random.integer(0, 9);
    const odd = random.integer(0, dv - 1);
    const kindOf = (head: number): number => (first + head) % 10;
    const valueHead = (index: number): number => Math.floor(index / dv);
    const keyKind = (index: number): number => kindOf(Math.floor((((Math.floor(index / dk) % kHeads) + 1) * vHeads) / kHeads) - 1);
    const gate =
      (kind: number, numbers: readonly [number, ...number[]], otherwise: Draw): Draw =>
      (own, head) =>
        kindOf(head) === kind ? own.pick(numbers) : otherwise(own, head);
    return {
      ...plain,
      weight: (own) => own.uniform(0.5, 1),
      // The last value head of a group says what its key head is: whole, one NaN, zeros, or subnormal.
      qk: (own, index) => {
        const kind = keyKind(index);
        if (kind === 0 && index % dk === dk - 1) return NaN;
        if (kind === 1) return index % 2 ? -0 : 0;
        return kind === 2 ? own.decades(1e-44, 1e-39) : own.uniform(0.5, 2);
      },
      qkState: (own, index) => ([1, 2].includes(keyKind(index)) ? 0 : own.uniform(0.5, 2)),
      v: (own, index) => (kindOf(valueHead(index)) === 3 && index % dv === odd ? own.pick([NaN, Infinity, -Infinity]) : own.uniform(0.5, 2)),
      vState: (own, index) => (kindOf(valueHead(index)) === 4 && index % dv === odd ? own.pick([NaN, Infinity]) : own.uniform(0.5, 2)),
      z: (own, index) => (kindOf(valueHead(index)) === 5 ? own.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, 300, -300, -1e30]) : own.uniform(-4, 4)),
      a: gate(6, [NaN, Infinity, -Infinity], plain.a),
      b: gate(7, [NaN, Infinity, -Infinity], plain.b),
      norm: (own) => own.uniform(0.5, 2),
      state: (own, index) =>
        kindOf(Math.floor(index / dk / dv)) === 8 && own.integer(0, 20) === 0 ? own.pick([NaN, Infinity, -Infinity, 1e-40, -0]) : own.uniform(0.5, 1),
    };
  }),
];

export const contract: Contract<GdnStepShape> = {
  kernel: gdnStep,
  meaning:
    'One token of a Gated DeltaNet between its projections, from the row x = [q | k | v | z | a | b] of a joint projection: [q|k|v] = silu of the causal convolution over the state’s taps − 1 columns and x; ' +
    'q, k divided by sqrt(Σ² + 1e-6) over their head, q also by sqrt(dk); g = −exp(A_log)·softplus(a + dt_bias), β = sigmoid(b); S ← e^g·S; S ← S + β(v − S k)kᵀ; out = S q / sqrt(mean (S q)² + eps)·norm·silu(z), ' +
    'in float32, value head h with key head floor(h·kHeads/vHeads). convState then holds the last taps − 1 columns, raw, bit for bit. What lies between the parts of x is never read. ' +
    'A NaN in a key or a query reaches all value heads of its key head, one in v, a or b its own head, one in z its own element.',
  bounds:
    'Those of conv1d-decode, gdn-gates, qk-l2-norm, gdn-decode and gated-rms-norm, whose operations these are, each begun with what the one before may be off by (gdn-step.bounds.ts). An x that is off by E moves ' +
    'Σx² by at most Σ2|x|E + E², so that the inverse root lies between those of the two ends, with its own error on top; x·root by E·root + |x| times that. The delta rule’s running bound takes errors of q, k, v, g and β: ' +
    'the decay lies within exp(g ± E). Spec: any order, u = 2⁻²³; depth: the shader’s paths, which are those of the chain, u = 2⁻²⁴. The convolution’s state is copied: every bit is due.',
  families: { step: ['default'] },
  shapes: [
    named('served', 'smallest', 1, 2, 32, 4, 2, 1),
    named('served', 'two key heads', 2, 4, 32, 4, 2, 3),
    named('served', 'awkward', 2, 6, 96, 77, 3, 5),
    named('served', 'one over', 3, 3, 64, 33, 4, 1),
    named('served', 'tiny', 2, 4, 64, 64, 4, 0),
    { ...named('served', '2B', 16, 16, 128, 128, 4, 0), fills: ['spread'] },
    named('edge', 'keys of 48', 1, 1, 48, 8, 4, 0),
    named('edge', 'values of 129', 1, 1, 32, 129, 4, 0),
    named('edge', 'five taps', 1, 1, 32, 8, 5, 0),
  ],
  fills,
  absent: { exact: 'exp may be off by 3 ULP and inverseSqrt by 2 for any argument, so no output has an exact result' },
  expect: gdnStepExpect,
  sums: [
    { name: 'taps', shape: sized(1, 2, 64, 64, 4, 1), fill: 'stress', output: 'state', family: 'step', replay: replay('taps', 'state') },
    { name: 'squares of keys', shape: sized(1, 2, 64, 64, 4, 1), fill: 'stress', output: 'state', family: 'step', replay: replay('keys', 'state') },
    { name: 'recall and answer', shape: sized(1, 2, 64, 64, 4, 1), fill: 'stress', output: 'out', family: 'step', replay: replay('rule', 'out') },
    { name: 'squares of answers', shape: sized(1, 2, 64, 64, 4, 1), fill: 'stress', output: 'out', family: 'step', replay: replay('answers', 'out') },
  ],
};

/** `output` with the additions of one stage passed through `round`, all else in float64. */
function replay(stage: 'taps' | 'keys' | 'rule' | 'answers', output: 'out' | 'state') {
  return (shape: GdnStepShape, contents: Contents, round: (value: number) => number): Float64Array => {
    const inputs = contents as unknown as GdnStepInputs;
    const { kHeads, vHeads, dk, dv, taps, zOffset } = shape;
    const channels = 2 * kHeads * dk + vHeads * dv;
    const { made } = gdnStepReference(shape, inputs);
    const at = (one: 'taps' | 'keys' | 'rule' | 'answers') => (one === stage ? round : (value: number) => value);
    const convolved = conv1dReplay(
      { rows: 1, channels, taps },
      { x: inputs.x.subarray(0, channels), weight: inputs.convWeight, state: inputs.convState },
      at('taps'),
    );
    const normed = (start: number, scale: number): Float64Array =>
      Float64Array.from({ length: kHeads * dk }, (_, i) => {
        const squares = replaySquares(convolved, start + i - (i % dk), dk, at('keys'));
        return (convolved[start + i]! * scale) / Math.sqrt(squares + 1e-6);
      });
    const q = normed(0, dk ** -0.5);
    const k = normed(kHeads * dk, 1);
    const rule = { rows: 1, kHeads, vHeads, dk, dv, vStride: vHeads * dv, vOffset: 0 };
    const replayed = deltaRuleReplay(rule, { q, k, v: convolved.subarray(2 * kHeads * dk), g: made.g, beta: made.beta, state: inputs.state }, at('rule'));
    if (output === 'state') return replayed.state;
    return replayed.out.map((answer, i) => {
      const squares = replaySquares(replayed.out, i - (i % dv), dv, at('answers'));
      const z = inputs.x[zOffset + i]!;
      return ((answer / Math.sqrt(squares / dv + shape.eps)) * inputs.norm[i % dv]! * z) / (1 + Math.exp(-z));
    });
  };
}
