import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { attentionFills } from '../shared/attention-contract.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { expRelative } from '../shared/sigmoid-bounds.ts';
import { sdpaSplitReference } from './sdpa-split.reference.ts';
import { CHUNK_KEYS, sdpaSplit, type SdpaSplitShape } from './sdpa-split.ts';

interface Inputs {
  readonly q: Float32Array;
  readonly kCache: Float32Array;
  readonly vCache: Float32Array;
  readonly position: Uint32Array;
}

const served = (name: string, heads: number, kvHeads: number, headDim: number, context: number, fills?: readonly string[]): ContractShape<SdpaSplitShape> => ({
  name: `${name} ${heads}/${kvHeads}x${headDim} in ${context}`,
  role: 'served',
  shape: { heads, kvHeads, headDim, context },
  ...(fills ? { fills } : {}),
});

/** The attention fills of one row. A NaN score leaves the largest score open, so that NaN is planted in values only. */
const fills: readonly Fill<SdpaSplitShape>[] = [
  ...attentionFills
    .filter(({ kind, name }) => kind !== 'classes' && name !== 'rows apart')
    .map((fill) => ({ name: fill.name, kind: fill.kind, make: (shape: SdpaSplitShape, random: Random) => fill.make({ rows: 1, ...shape }, random) })),
  {
    name: 'classes among values',
    kind: 'classes',
    make: ({ heads, kvHeads, headDim, context }, random) => ({
      q: Float32Array.from({ length: heads * headDim }, () => random.uniform(-2, 2)),
      kCache: Float32Array.from({ length: context * kvHeads * headDim }, () => random.uniform(-3, 3)),
      vCache: Float32Array.from({ length: context * kvHeads * headDim }, (_, i) =>
        // The newest key's too: what lies past it is read as it again.
        i % 37 === 0 || (i >= (context - 1) * kvHeads * headDim && i % 5 === 0) ? random.pick([NaN, Infinity, -Infinity, 1e-40, 0, -0]) : random.uniform(-1, 1),
      ),
      position: Uint32Array.of(context - 1),
    }),
  },
];

/** Roundings of a score in the shader's order: products of a lane, eight lanes, the scale. */
const scoreDepth = (headDim: number): number => headDim / 8 + 9;

export const contract: Contract<SdpaSplitShape> = {
  kernel: sdpaSplit,
  meaning:
    'Scores are s_j = q[h]·k[j]·headDim^-0.5 over the cache positions j ≤ position (and < context), head h with key-value head floor(h·kvHeads/heads). For each chunk of 32 positions that holds such a key: ' +
    'stats = [m, Σ exp(s_j − m)] with m the chunk’s largest score, sums = Σ exp(s_j − m)·v[j], in float32. Chunks without a key are left as they are, and positions beyond are never read. ' +
    'With a NaN score both sums are NaN and m is any number. A NaN or an infinity in a value reaches its own dimension.',
  bounds:
    'A score is off by at most ε_j = γ_{headDim+2}·scale·Σ|q·k| (products, any order, scale), and so is m by ε, the largest of them. A weight is relatively off by e^{δ_j} − 1 with ' +
    'δ_j = ε_j + ε + (m − s_j + 2ε)·u + exp’s 3 + 2|x| ULP. So |err| ≤ ε for m, Σ w_j(e^{δ_j} − 1 + γ_32) for the weights’ sum and Σ w_j|v_j|(e^{δ_j} − 1 + γ_33) for the values’, with u = 2⁻²³ (spec). ' +
    'Depth: a score meets headDim/8 products in a lane, 7 additions of lanes and the scale, a sum of values at most 32/slices + slices additions; u = 2⁻²⁴. Flushed products and weights add 2⁻¹²⁶·(headDim for a score, Σ(|v_j| + 2) for a sum).',
  families: { split: ['default'] },
  shapes: [
    served('smallest', 2, 1, 64, 1),
    served('awkward', 3, 1, 64, 75),
    served('awkward, five heads a key-value head', 5, 1, 64, 40),
    served('tiny', 4, 2, 64, 40),
    served('2B', 8, 2, 256, 65, ['spread', 'stress scores', 'classes among values']),
    {
      name: 'nine heads a key-value head',
      role: 'edge',
      shape: { heads: 18, kvHeads: 2, headDim: 64, context: 33 },
      fills: ['spread', 'classes among values'],
    },
    { name: 'half as wide', role: 'edge', shape: { heads: 2, kvHeads: 2, headDim: 128, context: 33 }, fills: ['spread'] },
    served('long', 4, 2, 64, 7168, ['spread']),
    { name: 'another width', role: 'edge', shape: { heads: 1, kvHeads: 1, headDim: 96, context: 4 } },
  ],
  fills,
  absent: { exact: 'exp may be off by 3 ULP for any argument, 0 included' },
  expect: (shape, contents) => {
    const inputs = contents as unknown as Inputs;
    const { sums, stats } = sdpaSplitReference(shape, inputs);
    const bound = (u: number, score: number, values: number): { sums: Float64Array; stats: Float64Array } => bounds(shape, inputs, stats, u, score, values);
    const spec = bound(U_SPEC, shape.headDim + 2, CHUNK_KEYS + 1);
    const slices = 256 / shape.headDim;
    const depth = bound(U_NEAREST, scoreDepth(shape.headDim), CHUNK_KEYS / slices + slices + 1);
    const { headDim, context } = shape;
    const chunks = Math.ceil(context / CHUNK_KEYS);
    const live = Math.ceil(Math.min(inputs.position[0]! + 1, context) / CHUNK_KEYS);
    const keptOf = (length: number, width: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (Math.floor(i / width) % chunks < live ? 0 : 1));
    return {
      sums: { kind: 'bounded', values: sums, spec: spec.sums, depth: depth.sums, kept: keptOf(sums.length, headDim) },
      stats: { kind: 'bounded', values: stats, spec: spec.stats, depth: depth.stats, kept: keptOf(stats.length, 2) },
    };
  },
  sums: [
    { name: 'scores', shape: { heads: 2, kvHeads: 1, headDim: 64, context: 20 }, fill: 'stress scores', output: 'sums', family: 'split', replay: replayScores },
    {
      name: 'values',
      shape: { heads: 4, kvHeads: 1, headDim: 256, context: 32 },
      fill: 'stress values',
      output: 'sums',
      family: 'split',
      replay: replayValues,
    },
  ],
};

function bounds(
  { heads, kvHeads, headDim, context }: SdpaSplitShape,
  { q, kCache, vCache, position }: Inputs,
  stats: Float64Array,
  u: number,
  scoreRoundings: number,
  valueRoundings: number,
): { sums: Float64Array; stats: Float64Array } {
  const chunks = Math.ceil(context / CHUNK_KEYS);
  const keys = Math.min(position[0]! + 1, context);
  const out = { sums: new Float64Array(heads * chunks * headDim), stats: new Float64Array(heads * chunks * 2) };
  for (let head = 0; head < heads; head++) {
    const kvHead = Math.floor((head * kvHeads) / heads);
    for (let chunk = 0; chunk * CHUNK_KEYS < keys; chunk++) {
      const at = head * chunks + chunk;
      const rows = Array.from({ length: Math.min(CHUNK_KEYS, keys - chunk * CHUNK_KEYS) }, (_, c) => ((chunk * CHUNK_KEYS + c) * kvHeads + kvHead) * headDim);
      const scored = rows.map((row) => {
        let dot = 0;
        let size = 0;
        for (let i = 0; i < headDim; i++) {
          const product = q[head * headDim + i]! * kCache[row + i]!;
          dot += product;
          size += Math.abs(product);
        }
        return { score: dot / Math.sqrt(headDim), error: (gamma(scoreRoundings, u) * size) / Math.sqrt(headDim) + FLUSH * headDim };
      });
      const largest = stats[at * 2]!;
      const most = scored.reduce((a, { error }) => Math.max(a, error), 0);
      out.stats[at * 2] = most;
      for (const [c, { score, error }] of scored.entries()) {
        const weight = Math.exp(score - largest);
        const distance = largest - score + 2 * most;
        const off = Math.expm1(error + most + distance * u + expRelative(distance));
        out.stats[at * 2 + 1]! += weight * (off + gamma(CHUNK_KEYS, u)) + 2 * FLUSH;
        for (let i = 0; i < headDim; i++) {
          const value = Math.abs(vCache[rows[c]! + i]!);
          out.sums[at * headDim + i]! += weight * value * (off + gamma(valueRoundings, u)) + FLUSH * (value + 2);
        }
      }
    }
  }
  // Where a value is NaN or infinite its class is due, and no bound applies.
  for (const [i, value] of out.sums.entries()) if (!Number.isFinite(value)) out.sums[i] = 0;
  return out;
}

/** `sums` with the additions of every score passed through `round`; weights and their sums are exact. */
function replayScores(shape: SdpaSplitShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { heads, kvHeads, headDim, context } = shape;
  const { q, kCache, vCache } = contents as unknown as Inputs;
  const sums = new Float64Array(heads * Math.ceil(context / CHUNK_KEYS) * headDim);
  for (let head = 0; head < heads; head++) {
    const rows = Array.from({ length: context }, (_, j) => (j * kvHeads + Math.floor((head * kvHeads) / heads)) * headDim);
    const scores = rows.map((row) => {
      let dot = 0;
      for (let i = 0; i < headDim; i++) dot = round(dot + q[head * headDim + i]! * kCache[row + i]!);
      return dot / Math.sqrt(headDim);
    });
    const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    for (const [j, row] of rows.entries()) for (let i = 0; i < headDim; i++) sums[head * headDim + i]! += Math.exp(scores[j]! - largest) * vCache[row + i]!;
  }
  return sums;
}

/** `sums` where every weight is 1, with the values added in rising order of keys through `round`. */
function replayValues({ heads, headDim, context }: SdpaSplitShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { vCache } = contents as unknown as Inputs;
  const sums = new Float64Array(heads * headDim);
  for (let head = 0; head < heads; head++) {
    for (let j = 0; j < context; j++) for (let i = 0; i < headDim; i++) sums[head * headDim + i] = round(sums[head * headDim + i]! + vCache[j * headDim + i]!);
  }
  return sums;
}
