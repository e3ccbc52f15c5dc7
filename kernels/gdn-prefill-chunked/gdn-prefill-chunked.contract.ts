import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import { gdnChunkPrepareReference } from '../gdn-chunk-prepare/gdn-chunk-prepare.reference.ts';
import { U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { CHUNK_ROWS, chunkWalkBounds } from '../shared/delta-chunk-bounds.ts';
import { deltaRuleFills, dotDepth, type DeltaRuleInputs } from '../shared/delta-rule-contract.ts';
import { gdnPrefillChunkedReference } from './gdn-prefill-chunked.reference.ts';
import { gdnPrefillChunked, type GdnPrefillChunkedShape } from './gdn-prefill-chunked.ts';

type Inputs = DeltaRuleInputs & { readonly mixes: Float32Array };

/** Strided sums that a dot's products go to: four of each half. */
const STRIDED = 8;

/** `beyond`: elements of a row of v before the values, the convolution's queries and keys. */
const served = (name: string, rows: number, kHeads: number, vHeads: number, dk: number, dv: number, beyond: number): ContractShape<GdnPrefillChunkedShape> => ({
  name: `${name} ${rows}x${kHeads}/${vHeads}x${dk}x${dv}`,
  role: 'served',
  shape: { rows, kHeads, vHeads, dk, dv, vStride: beyond + vHeads * dv, vOffset: beyond },
});

/** The token loop's fills, and the mixes that gdn-chunk-prepare is due to make of them. */
const fills: readonly Fill<GdnPrefillChunkedShape>[] = deltaRuleFills.map((fill) => ({
  ...fill,
  make: (shape, random) => {
    const contents = fill.make(shape, random);
    return { ...contents, mixes: Float32Array.from(gdnChunkPrepareReference(shape, contents as unknown as DeltaRuleInputs).mixes) };
  },
}));

export const contract: Contract<GdnPrefillChunkedShape> = {
  kernel: gdnPrefillChunked,
  meaning:
    'For each row in order: S ← e^g·S; δ = β·(v − S k); S ← S + δ kᵀ; out = S q, in float32, with S [vHeads, dv, dk], g a log decay, ' +
    'value head h with key head floor(h·kHeads/vHeads), v read at row·vStride + vOffset + h·dv + j; mixes must be gdn-chunk-prepare’s of the same q, k, g and β. ' +
    'Every (h, j) is by itself: a NaN or an infinity in v reaches its own row of S and of out.',
  bounds:
    'A running bound over the chunks’ own algebra, whose exact result is the token loop’s. Every element of the state carries what it may be off by, E. A decay’s argument is off by γ_(n−1)·Σ|g| and exp by 3 + 2|x| ULP. ' +
    'S·k and S·q are off by Σ|k|·E and γ_m·Σ|S·k|, m = dk in any order with u = 2⁻²³ (spec), or the shader’s ceil(dk/8) + 8 with u = 2⁻²⁴ (depth). Each product adds one rounding to what its factors are off by, ' +
    'cross term included. T and P come rounded to float32, 2⁻²⁴ off; x = T r, P x and the state’s sum of at most 16 rows add γ of their length times Σ|terms|. ' +
    'Everything that a driver may flush adds 2⁻¹²⁶ times what it is multiplied with.',
  families: { chunks: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 64, 1, 0),
    served('one row', 1, 2, 4, 64, 64, 256),
    served('tiny', 35, 2, 4, 64, 64, 256),
    served('awkward', 37, 3, 6, 64, 32, 387),
    served('nothing a multiple of 8', 19, 1, 5, 36, 13, 5),
    served('long', 130, 1, 2, 64, 8, 0),
    { ...served('2B', 18, 16, 16, 128, 128, 4096), fills: ['spread'] },
    served('2B heads', 17, 2, 2, 128, 16, 512),
    { name: 'keys of 37', role: 'edge', shape: { rows: 2, kHeads: 1, vHeads: 1, dk: 37, dv: 8, vStride: 8, vOffset: 0 } },
    { name: 'keys of 132', role: 'edge', shape: { rows: 1, kHeads: 1, vHeads: 1, dk: 132, dv: 1, vStride: 1, vOffset: 0 } },
  ],
  fills,
  absent: { exact: 'a decay is an exp, which may be off by 3 ULP for any argument, 0 included' },
  expect: (shape, contents) => {
    const inputs = contents as unknown as Inputs;
    const { out, state } = gdnPrefillChunkedReference(shape, inputs);
    const spec = chunkWalkBounds(shape, inputs, { u: U_SPEC, path: shape.dk });
    const depth = chunkWalkBounds(shape, inputs, { u: U_NEAREST, path: dotDepth(shape.dk) });
    return {
      out: { kind: 'bounded', values: out, spec: spec.out, depth: depth.out },
      state: { kind: 'bounded', values: state, spec: spec.state, depth: depth.state },
    };
  },
  sums: [{ name: 'recall and answer', shape: served('', 1, 1, 2, 64, 8, 3).shape, fill: 'stress', output: 'out', family: 'chunks', replay }],
};

/** `out` of one row with the additions of S·k and S·q passed through `round`. */
function replay({ kHeads, vHeads, dk, dv, vOffset }: GdnPrefillChunkedShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { q, k, v, g, beta, mixes, state } = contents as unknown as Inputs;
  return Float64Array.from({ length: vHeads * dv }, (_, row) => {
    const head = Math.floor(row / dv);
    const key = Math.floor((head * kHeads) / vHeads) * dk;
    const dot = (a: Float32Array): number => {
      const strided = new Float64Array(STRIDED);
      for (let d = 0; d < dk; d++) strided[d % STRIDED] = round(strided[d % STRIDED]! + state[row * dk + d]! * a[key + d]!);
      const [even, odd] = [strided.slice(0, 4), strided.slice(4)].map((half) => half.reduce((sum, part) => round(sum + part)));
      return round(even! + odd!);
    };
    const decay = Math.exp(g[head]!);
    const residue = beta[head]! * (v[vOffset + row]! - decay * dot(k));
    const mix = head * 2 * CHUNK_ROWS;
    return decay * dot(q) + mixes[mix + CHUNK_ROWS]! * mixes[mix]! * residue;
  });
}
