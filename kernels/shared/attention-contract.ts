/** What sdpa-prefill and sdpa-decode promise alike: fills, expectations with their bounds, and the replay of a score. */
import type { BoundedOutput, Contents, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from './bounds.ts';

export type AttentionShape = { readonly rows: number; readonly heads: number; readonly kvHeads: number; readonly headDim: number; readonly context: number };

interface Inputs {
  readonly q: Float32Array;
  readonly kCache: Float32Array;
  readonly vCache: Float32Array;
  readonly position: Uint32Array;
}

export type AttentionReference = (shape: AttentionShape, inputs: Inputs) => { out: Float64Array };

/** Roundings on the shader's longest paths for so many keys: of an output's numerator, and of the denominator. */
export interface AttentionDepth {
  readonly values: number;
  readonly total: number;
}

/** Fills attend all of the context but `unread` positions at its end, where keys and values of 1e30 wait to be noticed. */
function fill(
  name: string,
  kind: Fill['kind'],
  unread: number,
  make: (shape: AttentionShape, random: Random) => Omit<Inputs, 'position'>,
): Fill<AttentionShape> {
  return {
    name,
    kind,
    make: (shape, random) => {
      const position = Math.max(0, shape.context - shape.rows - unread);
      const inputs = make(shape, random);
      const width = shape.kvHeads * shape.headDim;
      inputs.kCache.fill(1e30, (position + shape.rows) * width);
      inputs.vCache.fill(1e30, (position + shape.rows) * width);
      return { ...inputs, position: Uint32Array.of(position) };
    },
  };
}

const array = (length: number, number: (i: number) => number): Float32Array => Float32Array.from({ length }, (_, i) => number(i));

export const attentionFills: readonly Fill<AttentionShape>[] = [
  fill('spread', 'spread', 1, ({ rows, heads, kvHeads, headDim, context }, random) => ({
    q: array(rows * heads * headDim, () => random.uniform(-3, 3)),
    kCache: array(context * kvHeads * headDim, () => random.uniform(-2, 2)),
    vCache: array(context * kvHeads * headDim, () => random.decades(1e-3, 1e2)),
  })),
  // All scores are 0 and all weights 1: from 132 keys on every sum of values passes 65504.
  // Scores of about 40 times the row: with another row's running maximum the exps overflow.
  fill('rows apart', 'spread', 1, ({ rows, heads, kvHeads, headDim, context }, random) => ({
    q: array(rows * heads * headDim, (i) => (40 * (Math.floor(i / (heads * headDim)) % 8)) / Math.sqrt(headDim)),
    kCache: array(context * kvHeads * headDim, () => random.uniform(0.9, 1)),
    vCache: array(context * kvHeads * headDim, () => random.decades(1e-3, 1e2)),
  })),
  fill('stress values', 'stress', 0, ({ rows, heads, kvHeads, headDim, context }, random) => ({
    q: array(rows * heads * headDim, () => 0),
    kCache: array(context * kvHeads * headDim, () => random.uniform(-1, 1)),
    vCache: array(context * kvHeads * headDim, () => random.uniform(500, 1000)),
  })),
  // Each key is the first one turned by its position, and q is constant: all scores are equal, and from 64 dimensions on their products
  // pass 65504. A score that is off by a few units makes one key win, where all should weigh the same.
  fill('stress scores', 'stress', 0, ({ rows, heads, kvHeads, headDim, context }, random) => {
    const first = array(kvHeads * headDim, () => random.uniform(30, 40));
    return {
      q: array(rows * heads * headDim, () => 35),
      kCache: array(context * kvHeads * headDim, (i) => {
        const [key, inKey] = [Math.floor(i / (kvHeads * headDim)), i % (kvHeads * headDim)];
        return first[inKey - (inKey % headDim) + ((inKey + key) % headDim)]!;
      }),
      vCache: array(context * kvHeads * headDim, () => random.pick([-1, 1]) * random.uniform(0.5, 1)),
    };
  }),
  // NaN in some heads' queries, in the newest key (which only the last row attends), and classes among the values.
  fill('classes', 'classes', 0, ({ rows, heads, kvHeads, headDim, context }, random) => {
    const width = kvHeads * headDim;
    return {
      q: array(rows * heads * headDim, (i) => (i % (3 * headDim) === headDim ? NaN : random.uniform(-1, 1))),
      kCache: array(context * width, (i) => (i === (context - 1) * width && rows > 1 ? NaN : random.uniform(-1, 1))),
      vCache: array(context * width, () => (random.integer(0, 40) === 0 ? random.pick([NaN, Infinity, -Infinity, 1e-40, 0, -0]) : random.uniform(-1, 1))),
    };
  }),
];

export const ATTENTION_MEANING =
  'Scores are q·k[j]·headDim^-0.5 over the cache positions j ≤ position + row (and < context), head h with key-value head floor(h·kvHeads/heads); out = Σ_j softmax_j · v[j], in float32. ' +
  'Positions beyond are never read. Scores of any finite size are safe, since the largest is taken out before exp. A NaN in a query, or in a key that a row attends, makes that row’s head NaN; ' +
  'a NaN or an infinity in a value reaches its own dimension.';

export const ATTENTION_BOUNDS =
  'A score is off by at most ε_j = γ_{headDim+2}·scale·Σ|q·k| (products, any order, scale). A weight is exp of its distance from the largest score, brought there in steps at each chunk that raises ' +
  'it; the steps add up to R_j = max s − s_j, so the weight is relatively off by e^{δ_j} − 1 with δ_j = ε_j + R_j·u + (3·chunks + 2·R_j) ULP. With m roundings on the longest path of a sum, ' +
  'out = N/T has |err| ≤ (Σ p_j|v_j|(e^{δ_j} − 1 + γ_m) + |out|·D)/(1 − D) + 2.5u|out|, D = Σ p_j(e^{δ_j} − 1 + γ_m′); never more than 2·max|v|, since weights are not negative. ' +
  'Spec: m = keys + chunks + 1, u = 2⁻²³. Depth: the shader’s paths, u = 2⁻²⁴. Flushed weights and products add 2⁻¹²⁶·Σ(2|v| + |out| + 2).';

/**
 * Expected `out`.
 * @param chunk keys between two rescalings.
 * @param depth the shader's longest paths.
 */
export function attentionExpect(
  reference: AttentionReference,
  shape: AttentionShape,
  contents: Contents,
  chunk: number,
  depth: (keys: number, headDim: number) => AttentionDepth,
): { out: BoundedOutput } {
  const inputs = contents as unknown as Inputs;
  const { rows, heads, kvHeads, headDim, context } = shape;
  const { out } = reference(shape, inputs);
  const bounds = { spec: new Float64Array(out.length), depth: new Float64Array(out.length) };
  for (let head = 0; head < rows * heads; head++) {
    const keys = Math.min(inputs.position[0]! + Math.floor(head / heads) + 1, context);
    const kvHead = Math.floor(((head % heads) * kvHeads) / heads);
    const { scores, sizes } = scoresOf(shape, inputs, head, kvHead, keys);
    if (scores.some(Number.isNaN)) continue;
    const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((a, b) => a + b, 0);
    const chunks = Math.ceil(keys / chunk);
    const paths = depth(keys, headDim);
    for (const [name, u, values, sums] of [
      ['spec', U_SPEC, keys + chunks + 1, keys + chunks + 1],
      ['depth', U_NEAREST, paths.values, paths.total],
    ] as const) {
      const shifts = scores.map((score, j) => {
        const error = gamma(headDim + 2, u) * sizes[j]! + FLUSH * headDim;
        const distance = largest - score + 2 * error;
        return Math.expm1(error + distance * u + (3 * chunks + 2 * distance) * U_SPEC);
      });
      const spread = weights.reduce((sum, weight, j) => sum + (weight / total) * (shifts[j]! + gamma(sums, u)), 0);
      for (let i = 0; i < headDim; i++) {
        const value = out[head * headDim + i]!;
        if (!Number.isFinite(value)) continue;
        let error = 0;
        let most = 0;
        let least = 0;
        for (let j = 0; j < keys; j++) {
          const size = Math.abs(inputs.vCache[(j * kvHeads + kvHead) * headDim + i]!);
          error += (weights[j]! / total) * size * (shifts[j]! + gamma(values, u));
          most = Math.max(most, size);
          least += 2 * size + Math.abs(value) + 2;
        }
        const quotient = spread < 1 ? (error + Math.abs(value) * spread) / (1 - spread) : Infinity;
        bounds[name][head * headDim + i] = Math.min(quotient + 2.5 * U_SPEC * Math.abs(value), 2 * most) + FLUSH * least;
      }
    }
  }
  return { out: { kind: 'bounded', values: out, ...bounds } };
}

/** Scores of one row's head, and scale·Σ|q·k|. `round` sees every addition, in rising order of dimension. */
function scoresOf(
  { kvHeads, headDim }: AttentionShape,
  { q, kCache }: Inputs,
  head: number,
  kvHead: number,
  keys: number,
  round: (value: number) => number = (value) => value,
): { scores: Float64Array; sizes: Float64Array } {
  const scores = new Float64Array(keys);
  const sizes = new Float64Array(keys);
  for (let j = 0; j < keys; j++) {
    let dot = 0;
    for (let i = 0; i < headDim; i++) {
      const product = q[head * headDim + i]! * kCache[(j * kvHeads + kvHead) * headDim + i]!;
      dot = round(dot + product);
      sizes[j]! += Math.abs(product) / Math.sqrt(headDim);
    }
    scores[j] = dot / Math.sqrt(headDim);
  }
  return { scores, sizes };
}

/** `out` with the additions of every score passed through `round`; the softmax and its sums are exact. */
export function replayScores(shape: AttentionShape, contents: Contents, round: (value: number) => number): Float64Array {
  return replayRows(shape, contents, (inputs, head, kvHead, keys) => {
    const { scores } = scoresOf(shape, inputs, head, kvHead, keys, round);
    const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((a, b) => a + b, 0);
    return (value) => weights.reduce((sum, weight, j) => sum + weight * value(j), 0) / total;
  });
}

/** `out` where every weight is 1, with a numerator summed by `sum`. */
export function replayValues(shape: AttentionShape, contents: Contents, sum: (terms: readonly number[]) => number): Float64Array {
  return replayRows(shape, contents, (_inputs, _head, _kvHead, keys) => (value) => sum(Array.from({ length: keys }, (_, j) => value(j))) / keys);
}

function replayRows(
  shape: AttentionShape,
  contents: Contents,
  row: (inputs: Inputs, head: number, kvHead: number, keys: number) => (value: (j: number) => number) => number,
): Float64Array {
  const inputs = contents as unknown as Inputs;
  const { rows, heads, kvHeads, headDim, context } = shape;
  const out = new Float64Array(rows * heads * headDim);
  for (let head = 0; head < rows * heads; head++) {
    const keys = Math.min(inputs.position[0]! + Math.floor(head / heads) + 1, context);
    const kvHead = Math.floor(((head % heads) * kvHeads) / heads);
    const combine = row(inputs, head, kvHead, keys);
    for (let i = 0; i < headDim; i++) out[head * headDim + i] = combine((j) => inputs.vCache[(j * kvHeads + kvHead) * headDim + i]!);
  }
  return out;
}
