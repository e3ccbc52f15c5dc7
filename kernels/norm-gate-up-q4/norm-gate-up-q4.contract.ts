import type { Contents, Contract, ContractShape } from '../contract.ts';
import { FLUSH, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { replayRowSquares, rowNormRelative } from '../shared/norm-bounds.ts';
import { normedFills, type NormedInputs } from '../shared/normed-fill.ts';
import { q4Table } from '../shared/q4-fill.ts';
import { sigmoidRelative } from '../shared/sigmoid-bounds.ts';
import { replaySplit, splitErrors, type SplitError } from '../shared/split-k-bounds.ts';
import { SPLIT_FAMILIES } from '../shared/split-k.ts';
import { normGateUpQ4Reference, type NormGateUpQ4Reference, type RowProducts } from './norm-gate-up-q4.reference.ts';
import { normGateUpQ4, type NormGateUpQ4Shape } from './norm-gate-up-q4.ts';

const EPS = 1e-6;

const shape = (role: 'served' | 'edge', name: string, n: number, k: number, upRow: number, fills?: readonly string[]): ContractShape<NormGateUpQ4Shape> => ({
  name: `${name} ${n}x${k}, up at ${upRow}`,
  role,
  shape: { n, k, upRow, eps: name === 'awkward' ? 1e-5 : EPS },
  ...(fills ? { fills } : {}),
});

export const contract: Contract<NormGateUpQ4Shape> = {
  kernel: normGateUpQ4,
  meaning:
    'out[c] = silu(g[c])·u[c] in float32 for one row, g[c] = Σ_i m[i]·w[c, i], u[c] = Σ_i m[i]·w[upRow + c, i], m[i] = x[i]·norm[i] / sqrt(mean_j x[j]² + eps), silu(g) = g·sigmoid(g); ' +
    'w = scale·q + bias laid out as in qmm-q4 and multiplied by slices of 32 as scale·Σ q·m + bias·Σ m. A NaN or an infinity in x makes every output NaN. ' +
    'k is a multiple of 64 and upRow at least n; others are refused.',
  bounds:
    'g and u are off by E = (δ + γ·(1 + δ))·terms + flushing as norm-qmm-q4’s contract derives it (shared/norm-bounds.ts, shared/split-k-bounds.ts). silu’s slope is below 1.1 everywhere, ' +
    'so what silu(g)·u inherits is P = 1.1·E_g·|u| + |silu(g)|·E_u + 1.1·E_g·E_u. Its own: the sigmoid’s relative error (shared/sigmoid-bounds.ts) at a gate off by E_g, at most 2u·E_g more, and two ' +
    'products: (|out| + P)·(sigmoid + 2u·E_g + 2u)·(1 + 2⁻¹²). Flushing besides: 2⁻¹²⁶·(|g·u| + 2|u| + |silu(g)| + 1), g and u with their E. ' +
    'Spec: everything with u = 2⁻²³ in any order; depth: the shader’s own order with u = 2⁻²⁴.',
  families: SPLIT_FAMILIES,
  shapes: [
    shape('served', 'smallest', 1, 64, 1),
    shape('served', 'awkward', 77, 320, 80),
    shape('served', 'awkward', 5, 2112, 7),
    shape('served', 'awkward', 67, 1088, 67, ['spread', 'saturated']),
    shape('served', 'tiny', 768, 256, 768, ['spread', 'saturated']),
    // From 2,049 outputs on a workgroup of one output a team makes two blocks.
    shape('served', 'two blocks', 2055, 64, 2060, ['spread']),
    shape('served', 'two blocks of two stages', 2051, 2112, 2051, ['spread']),
    shape('served', '2B slice', 258, 2048, 6144, ['spread']),
    shape('edge', 'ragged group', 8, 96, 8),
    shape('edge', 'up among gate’s rows', 8, 64, 7),
  ],
  fills: normedFills<NormGateUpQ4Shape>(({ n, upRow }) => upRow + n, {
    // Gates of a size where silu bends.
    spread: (random, elements) =>
      q4Table(
        random,
        elements,
        () => random.decades(1e-4, 1e-2),
        () => random.decades(1e-3, 1e-1),
      ),
    saturated: (random, elements) =>
      q4Table(
        random,
        elements,
        () => random.decades(1e-1, 1e1),
        () => random.decades(1e-1, 1e2),
      ),
  }),
  absent: { exact: 'inverseSqrt may be off by 2 ULP for any argument, so no fill has an exact result' },
  expect: (at, contents, family) => {
    const { x, norm, codes, scales, biases } = contents as NormedInputs;
    const found = normGateUpQ4Reference(at, x, norm, codes, scales, biases);
    const delta = rowNormRelative(at.k);
    const { spec, depth } = splitErrors(family, at.k);
    return {
      out: {
        kind: 'bounded',
        values: found.values,
        spec: bounds(found, delta.spec, spec, U_SPEC),
        depth: bounds(found, delta.depth, depth, U_NEAREST),
      },
    };
  },
  sums: [
    {
      name: 'squares 256',
      shape: { n: 64, k: 256, upRow: 64, eps: EPS },
      fill: 'stress',
      output: 'out',
      family: 'split-k',
      replay: replay('squares', 'split-k'),
    },
    {
      name: 'squares 2112',
      shape: { n: 16, k: 2112, upRow: 16, eps: EPS },
      fill: 'stress',
      output: 'out',
      family: 'split-k',
      replay: replay('squares', 'split-k'),
    },
    {
      name: 'slices 256',
      shape: { n: 64, k: 256, upRow: 64, eps: EPS },
      fill: 'stress',
      output: 'out',
      family: 'split-k',
      replay: replay('slices', 'split-k'),
    },
    { name: 'slices 256', shape: { n: 64, k: 256, upRow: 64, eps: EPS }, fill: 'stress', output: 'out', family: 'fixed', replay: replay('slices', 'fixed') },
    {
      name: 'slices 2112',
      shape: { n: 16, k: 2112, upRow: 16, eps: EPS },
      fill: 'stress',
      output: 'out',
      family: 'split-k',
      replay: replay('slices', 'split-k'),
    },
    { name: 'slices 2112', shape: { n: 16, k: 2112, upRow: 16, eps: EPS }, fill: 'stress', output: 'out', family: 'fixed', replay: replay('slices', 'fixed') },
  ],
};

/** @param norm relative error of a normed element; `u` of one sum or product. */
function bounds({ values, gate, up }: NormGateUpQ4Reference, norm: number, { relative, peak }: SplitError, u: number): Float64Array {
  const of = ({ terms, peaks, units }: RowProducts, i: number): number =>
    (norm + relative * (1 + norm)) * terms[i]! + peak * (1 + norm) * peaks[i]! + 16 * FLUSH * units[i]!;
  return values.map((value, i) => {
    const g = gate.values[i]!;
    const errorOfG = of(gate, i);
    const errorOfU = of(up, i);
    const size = Math.abs(up.values[i]!);
    const silu = Math.abs(g) / (1 + Math.exp(-g));
    const inherited = 1.1 * errorOfG * size + silu * errorOfU + 1.1 * errorOfG * errorOfU;
    const own = (sigmoidRelative(g, u) + 2 * U_SPEC * errorOfG + 2 * u) * (1 + 2 ** -12);
    const most = size + errorOfU;
    return inherited + (Math.abs(value) + inherited) * own + FLUSH * ((Math.abs(g) + errorOfG) * most + 2 * most + silu + errorOfG + 1);
  });
}

/** out with one kind of its sums kept in another accumulator. */
function replay(sum: 'squares' | 'slices', family: string) {
  return ({ n, k, upRow, eps }: NormGateUpQ4Shape, contents: Contents, round: (value: number) => number): Float64Array => {
    const { x, norm, ...table } = contents as NormedInputs;
    const scale = 1 / Math.sqrt(replayRowSquares(x, 0, k, sum === 'squares' ? round : (value) => value) / k + Math.fround(eps));
    const m = x.map((value, i) => value * scale * norm[i]!);
    const product = (row: number): number => replaySplit(family, { x: m, start: 0, k }, table, row, sum === 'slices' ? round : Math.fround);
    return Float64Array.from({ length: n }, (_, column) => {
      const g = product(column);
      return (g / (1 + Math.exp(-g))) * product(upRow + column);
    });
  };
}
