import type { Contents, Contract, ContractShape } from '../contract.ts';
import { FLUSH } from '../shared/bounds.ts';
import { replayRowSquares, rowNormRelative } from '../shared/norm-bounds.ts';
import { normedFills, type NormedInputs } from '../shared/normed-fill.ts';
import { spreadTable } from '../shared/q4-fill.ts';
import { replaySplit, splitErrors, type SplitError } from '../shared/split-k-bounds.ts';
import { SPLIT_FAMILIES } from '../shared/split-k.ts';
import { normQmmQ4Reference } from './norm-qmm-q4.reference.ts';
import { normQmmQ4, type NormQmmQ4Shape } from './norm-qmm-q4.ts';

const EPS = 1e-6;

const shape = (role: 'served' | 'edge', name: string, n: number, k: number, fills?: readonly string[]): ContractShape<NormQmmQ4Shape> => ({
  name: `${name} ${n}x${k}`,
  role,
  shape: { n, k, eps: name === 'awkward' ? 1e-5 : EPS },
  ...(fills ? { fills } : {}),
});

export const contract: Contract<NormQmmQ4Shape> = {
  kernel: normQmmQ4,
  meaning:
    'y[c] = Σ_i m[i]·w[c, i] in float32 for one row, m[i] = x[i]·norm[i] / sqrt(mean_j x[j]² + eps) as in rms-norm, w = scale·q + bias laid out as in qmm-q4 and multiplied by ' +
    'slices of 32 as scale·Σ q·m + bias·Σ m. A NaN or an infinity in x makes every output NaN. k is a multiple of 64; others are refused.',
  bounds:
    'm is off by a fraction δ of itself (shared/norm-bounds.ts: the squares’ γ_{k+4} halved by the root, inverseSqrt 2 ULP, two products), the product by γ of its terms ' +
    'Σ(|scale|·q + |bias|)·|m| (shared/split-k-bounds.ts): |err| ≤ (δ + γ·(1 + δ))·terms, and in family fixed its part of the peaks Σ_slices |scale|·Σ q·max|m|. Spec: γ_{k/16+32} and δ of any order with u = 2⁻²³; depth: γ_{20+2·ceil(k/1024)} and ' +
    'δ of 4·ceil(k/1024)+31 roundings with u = 2⁻²⁴. Flushing: 2⁻¹²⁶·16·(Σ|m| + Σ(|scale|·(q + 1) + |bias|)·(1 + |norm|(1 + r) + r|x|) + k) with r the inverse root.',
  families: SPLIT_FAMILIES,
  shapes: [
    shape('served', 'smallest', 1, 64),
    shape('served', 'awkward', 77, 320),
    shape('served', 'awkward', 5, 2112),
    shape('served', 'awkward', 131, 1088, ['spread', 'stress']),
    shape('served', 'tiny k/v', 128, 256),
    shape('served', 'tiny q, qkv', 512, 256, ['spread']),
    // From 4,097 outputs on a workgroup of one output a team makes two blocks.
    shape('served', 'two blocks', 4107, 64, ['spread']),
    shape('served', 'two blocks of two stages', 4101, 2112, ['spread']),
    shape('served', '2B k/v', 512, 2048, ['spread']),
    shape('edge', 'ragged group', 8, 96),
  ],
  fills: normedFills<NormQmmQ4Shape>(({ n }) => n, { spread: spreadTable }),
  absent: { exact: 'inverseSqrt may be off by 2 ULP for any argument, so no fill has an exact result' },
  expect: (at, contents, family) => {
    const { x, norm, codes, scales, biases } = contents as NormedInputs;
    const { values, terms, peaks, units } = normQmmQ4Reference(at, x, norm, codes, scales, biases);
    const delta = rowNormRelative(at.k);
    const { spec, depth } = splitErrors(family, at.k);
    const bound = (normed: number, { relative, peak }: SplitError): Float64Array =>
      terms.map((term, i) => (normed + relative * (1 + normed)) * term + peak * (1 + normed) * peaks[i]! + 16 * FLUSH * units[i]!);
    return {
      y: {
        kind: 'bounded',
        values,
        spec: bound(delta.spec, spec),
        depth: bound(delta.depth, depth),
      },
    };
  },
  sums: [
    { name: 'squares 256', shape: { n: 64, k: 256, eps: EPS }, fill: 'stress', output: 'y', family: 'split-k', replay: replay('squares', 'split-k') },
    { name: 'squares 2112', shape: { n: 16, k: 2112, eps: EPS }, fill: 'stress', output: 'y', family: 'split-k', replay: replay('squares', 'split-k') },
    { name: 'slices 256', shape: { n: 64, k: 256, eps: EPS }, fill: 'stress', output: 'y', family: 'split-k', replay: replay('slices', 'split-k') },
    { name: 'slices 256', shape: { n: 64, k: 256, eps: EPS }, fill: 'stress', output: 'y', family: 'fixed', replay: replay('slices', 'fixed') },
    { name: 'slices 2112', shape: { n: 16, k: 2112, eps: EPS }, fill: 'stress', output: 'y', family: 'split-k', replay: replay('slices', 'split-k') },
    { name: 'slices 2112', shape: { n: 16, k: 2112, eps: EPS }, fill: 'stress', output: 'y', family: 'fixed', replay: replay('slices', 'fixed') },
  ],
};

/** y with one of its two sums kept in another accumulator. */
function replay(sum: 'squares' | 'slices', family: string) {
  return ({ n, k, eps }: NormQmmQ4Shape, contents: Contents, round: (value: number) => number): Float64Array => {
    const { x, norm, ...table } = contents as NormedInputs;
    const scale = 1 / Math.sqrt(replayRowSquares(x, 0, k, sum === 'squares' ? round : (value) => value) / k + Math.fround(eps));
    const m = x.map((value, i) => value * scale * norm[i]!);
    return Float64Array.from({ length: n }, (_, column) => replaySplit(family, { x: m, start: 0, k }, table, column, sum === 'slices' ? round : Math.fround));
  };
}
