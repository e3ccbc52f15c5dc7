/** Expected outputs of gdn-step with bounds: those of the kernels of its chain, each begun with what the one before may be off by. */
import type { Contents, Expected } from '../contract.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { conv1dExpect } from '../shared/conv1d-contract.ts';
import { dotDepth, runningBounds } from '../shared/delta-rule-contract.ts';
import { gateError } from '../shared/gate-bounds.ts';
import { inverseRootRelative, squaresDepth } from '../shared/norm-bounds.ts';
import { sigmoidRelative } from '../shared/sigmoid-bounds.ts';
import { gdnStepReference, type GdnStepMade } from './gdn-step.reference.ts';
import type { GdnStepShape } from './gdn-step.ts';

export type GdnStepInputs = Readonly<Record<'x' | 'convWeight' | 'gates' | 'norm' | 'convState' | 'state', Float32Array>>;

/** Of one accuracy: u of a rounding, whether it is the shader's own order, and what the convolution may be off by. */
interface Accuracy {
  readonly u: number;
  readonly own: boolean;
  readonly convolved: Float64Array;
}

const L2_EPS = 1e-6;

/** Expected `out`, `convState` and `state`. */
export function gdnStepExpect(shape: GdnStepShape, contents: Contents): Readonly<Record<'out' | 'convState' | 'state', Expected>> {
  const inputs = contents as unknown as GdnStepInputs;
  const { kHeads, vHeads, dk, dv, taps } = shape;
  const channels = 2 * kHeads * dk + vHeads * dv;
  const { out, convState, state, made } = gdnStepReference(shape, inputs);
  const convolution = { x: inputs.x.subarray(0, channels), weight: inputs.convWeight, state: inputs.convState };
  const conv = conv1dExpect(() => ({ out: made.convolved, state: convState }), { rows: 1, channels, taps }, convolution);
  if (conv['out']?.kind !== 'bounded' || !conv['state']) throw new Error('gdn-step: the convolution has no bounds or no state');
  const spec = boundsOf(shape, inputs, made, { u: U_SPEC, own: false, convolved: conv['out'].spec });
  const depth = boundsOf(shape, inputs, made, { u: U_NEAREST, own: true, convolved: conv['out'].depth });
  return {
    out: { kind: 'bounded', values: out, spec: spec.out, depth: depth.out },
    convState: conv['state'],
    state: { kind: 'bounded', values: state, spec: spec.state, depth: depth.state },
  };
}

function boundsOf(shape: GdnStepShape, inputs: GdnStepInputs, made: GdnStepMade, accuracy: Accuracy): { out: Float64Array; state: Float64Array } {
  const { kHeads, vHeads, dk, dv, aOffset, bOffset } = shape;
  const { u, own, convolved } = accuracy;
  const beyond = 2 * kHeads * dk;
  const normed = (start: number, scale: number, products: number): Float64Array => {
    const errors = new Float64Array(kHeads * dk);
    for (let at = 0; at < errors.length; at += dk) {
      const from = start + at;
      const head = normErrors(
        made.convolved.subarray(from, from + dk),
        convolved.subarray(from, from + dk),
        1,
        L2_EPS,
        gamma((own ? squaresDepth(dk) : dk) + 2, u),
      );
      for (let i = 0; i < dk; i++)
        errors[at + i] =
          scale * (head.errors[i]! + gamma(products, u) * (Math.abs(made.convolved[from + i]!) * head.root + head.errors[i]!)) + FLUSH * (2 + head.root);
    }
    return errors;
  };
  const errors = {
    q: normed(0, dk ** -0.5, 3),
    k: normed(kHeads * dk, 1, 1),
    v: convolved.subarray(beyond),
    g: made.g.map(
      (_, head) =>
        finite(gateError(inputs.x[aOffset + head]! + inputs.gates[vHeads + head]!, inputs.gates[head]!, u)) + FLUSH * (4 * Math.exp(inputs.gates[head]!) + 2),
    ),
    beta: made.beta.map((beta, head) => finite(beta * sigmoidRelative(inputs.x[bOffset + head]!, u)) + 2 * FLUSH),
  };
  const rule = { rows: 1, kHeads, vHeads, dk, dv, vStride: vHeads * dv, vOffset: 0 };
  const given = { q: made.q, k: made.k, v: made.convolved.subarray(beyond), g: made.g, beta: made.beta, state: inputs.state };
  const { out: answers, state } = runningBounds(rule, given, u, own ? dotDepth(dk) : dk, errors);
  return { out: gatedErrors(shape, inputs, made.answers, answers, accuracy), state };
}

/** What x / sqrt(Σx²/n + eps) may be off by, before the product, where x is off by `errors`; `root` is the most that the inverse root is. */
function normErrors(x: Float64Array, errors: Float64Array, n: number, eps: number, relative: number): { errors: Float64Array; root: number } {
  let [squares, moved] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    squares += x[i]! ** 2 / n;
    moved += (2 * Math.abs(x[i]!) * errors[i]! + errors[i]! ** 2 + 2 * FLUSH) / n;
  }
  const own = inverseRootRelative(relative);
  const root = 1 / Math.sqrt(squares + eps);
  const most = (1 + own) / Math.sqrt(Math.max(squares - moved, 0) + eps);
  const off = Math.max(most - root, root - (1 - own) / Math.sqrt(squares + moved + eps));
  return { errors: x.map((value, i) => errors[i]! * most + Math.abs(value) * off), root: most };
}

/** As gated-rms-norm's, of answers that are off by `errors`. */
function gatedErrors(
  { vHeads, dv, zOffset, eps }: GdnStepShape,
  { x, norm }: GdnStepInputs,
  answers: Float64Array,
  errors: Float64Array,
  { u, own }: Accuracy,
): Float64Array {
  const out = new Float64Array(vHeads * dv);
  const relative = own ? gamma(squaresDepth(dv), u) + 3.5 * U_SPEC : gamma(dv + 4, u);
  for (let at = 0; at < out.length; at += dv) {
    const head = normErrors(answers.subarray(at, at + dv), errors.subarray(at, at + dv), dv, eps, relative);
    for (let i = 0; i < dv; i++) {
      const z = x[zOffset + at + i]!;
      const [w, gate, size] = [Math.abs(norm[i]!), Math.abs(z), Math.abs(answers[at + i]!) + errors[at + i]!];
      const silu = gate / (1 + Math.exp(-z));
      const rest = (sigmoidRelative(z, u) + gamma(5, u)) * (1 + 2 ** -12);
      // Whatever is flushed is multiplied by the rest.
      const least = head.root * w * gate + w * gate + gate + size * head.root * (gate + w * (gate + 1)) + 1;
      out[at + i] = finite(w * silu * (head.errors[i]! + size * head.root * rest) + FLUSH * least);
    }
  }
  return out;
}

/** Where a value is NaN or infinite its class is due, and no bound applies. */
function finite(bound: number): number {
  return Number.isFinite(bound) ? bound : 0;
}
