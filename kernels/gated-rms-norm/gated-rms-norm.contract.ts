import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { inverseRootRelative, replaySquares, squaresDepth } from '../shared/norm-bounds.ts';
import { sigmoidRelative } from '../shared/sigmoid-bounds.ts';
import { gatedRmsNormReference } from './gated-rms-norm.reference.ts';
import { gatedRmsNorm, type GatedRmsNormShape } from './gated-rms-norm.ts';

/** What the device gets: float32 eps. */
const EPS = Math.fround(1e-6);

const served = (name: string, rows: number, n: number, heads = 1, zStride = heads * n, zOffset = 0): ContractShape<GatedRmsNormShape> => ({
  name: `${name} ${rows}x${n}${heads > 1 ? `, ${heads} heads at ${zOffset} of ${zStride}` : ''}`,
  role: 'served',
  shape: { rows, n, heads, zStride, zOffset, eps: EPS },
});

/** Where the gates of a row start. */
function gatesAt({ n, heads, zStride, zOffset }: GatedRmsNormShape, row: number): number {
  return Math.floor(row / heads) * zStride + zOffset + (row % heads) * n;
}

function fill(name: string, kind: Fill['kind'], row: (random: Random, index: number, x: Float32Array, z: Float32Array) => void): Fill<GatedRmsNormShape> {
  return {
    name,
    kind,
    make: (shape, random) => {
      const { rows, n } = shape;
      const x = new Float32Array(rows * n);
      const z = new Float32Array((rows / shape.heads) * shape.zStride);
      for (let index = 0; index < rows; index++) {
        row(random, index, x.subarray(index * n, index * n + n), z.subarray(gatesAt(shape, index), gatesAt(shape, index) + n));
      }
      return { x, z, weight: Float32Array.from({ length: n }, () => random.decades(1e-2, 1e2)) };
    },
  };
}

const spread = fill('spread', 'spread', (random, _, x, z) => {
  const size = 10 ** random.uniform(-5, 3);
  for (let i = 0; i < x.length; i++) {
    x[i] = size * random.decades(1e-3, 1);
    z[i] = random.decades(1e-3, 60);
  }
});

const stress = fill('stress', 'stress', (random, _, x, z) => {
  for (let i = 0; i < x.length; i++) {
    x[i] = random.uniform(500, 1000);
    z[i] = random.uniform(1, 4);
  }
});

/** One class of x a row; z goes through its own classes in the rows whose x is finite. */
const classes = fill('classes', 'classes', (random, index, x, z) => {
  for (let i = 0; i < x.length; i++) {
    x[i] = random.decades(1e-2, 1e2);
    z[i] = random.uniform(-4, 4);
  }
  const at = random.integer(0, x.length - 1);
  const kind = index % 6;
  if (kind < 3) x[at] = [NaN, Infinity, -Infinity][kind]!;
  else if (kind < 5) for (let i = 0; i < x.length; i++) x[i] = kind === 3 ? (i % 2 ? -0 : 0) : random.decades(1e-44, 1e-39);
  else for (let i = 0; i < x.length; i++) z[i] = random.pick([NaN, Infinity, 0, -0, 1e-40, 300, -300, -1e30]);
});

export const contract: Contract<GatedRmsNormShape> = {
  kernel: gatedRmsNorm,
  meaning:
    'out[r, i] = x[r, i] / sqrt(mean_j x[r, j]² + eps) · weight[i] · silu(z[r, i]) with silu(z) = z·sigmoid(z), in float32: normalised first, then gated, nothing rounded ' +
    'to a narrower type between. A row of x with a NaN is NaN, with an infinity 0 and NaN at the infinity; a NaN of z is NaN in its own place; gates saturate and never overflow.',
  bounds:
    'The norm as in rms-norm: squares γ_n in any order, division 2.5 ULP, + eps one rounding, together γ_{n+4} with u = 2⁻²³, halved by inverseSqrt, which adds 2 ULP. The sigmoid as ' +
    'shared/sigmoid-bounds.ts derives it. Four products join them. Depth: ceil(n/64) additions in a lane, 6 levels, the square, at 2⁻²⁴. Flushing an operand, exp or a product moves ' +
    'out by 2⁻¹²⁶ times the product of the other factors, at most |z|·(1 + |w|(1 + r)) + |x|r·(|z| + |w|(|z| + 1)) + 1 with r the inverse root.',
  families: { row: ['default'] },
  shapes: [
    served('smallest', 1, 1),
    served('awkward', 7, 77),
    served('one over', 6, 65),
    served('within wider rows', 6, 33, 3, 150, 11),
    served('tiny', 4, 64),
    served('tiny prefill', 68, 64),
    served('2B', 16, 128),
    served('2B prefill', 48, 128),
    { name: 'more rows than a grid is wide', role: 'edge', shape: { rows: 65_536, n: 1, heads: 1, zStride: 1, zOffset: 0, eps: EPS }, fills: ['spread'] },
  ],
  fills: [spread, stress, classes],
  absent: { exact: 'inverseSqrt may be off by 2 ULP and exp by 3 for any argument, so no fill has an exact result' },
  expect: (shape, contents) => {
    const { x, z, weight } = contents as { x: Float32Array; z: Float32Array; weight: Float32Array };
    const { rows, n } = shape;
    const { out } = gatedRmsNormReference(shape, { x, z, weight });
    const spec = inverseRootRelative(gamma(n + 4, U_SPEC)) + gamma(5, U_SPEC);
    const depth = inverseRootRelative(gamma(squaresDepth(n), U_NEAREST) + 3.5 * U_SPEC) + gamma(5, U_NEAREST);
    const flushed = new Float64Array(rows * n);
    for (let row = 0; row < rows; row++) {
      const scale = 1 / Math.sqrt(x.subarray(row * n, row * n + n).reduce((sum, value) => sum + value * value, 0) / n + EPS);
      for (let i = 0; i < n; i++) {
        const size = Math.abs(x[row * n + i]!);
        const w = Math.abs(weight[i]!);
        const gate = Math.abs(z[gatesAt(shape, row) + i]!);
        // Whatever is flushed, an x, the scaled x, a weight, their product, exp, the sigmoid, silu or out, is multiplied by the rest.
        const least = scale * w * gate + w * gate + gate + size * scale * (gate + w * (gate + 1)) + 1;
        flushed[row * n + i] = Number.isFinite(least) ? FLUSH * least : 0;
      }
    }
    const bound = (relative: number, u: number) =>
      out.map((value, i) => Math.abs(value) * (relative + sigmoidRelative(z[gatesAt(shape, Math.floor(i / n)) + (i % n)]!, u)) + flushed[i]!);
    return { out: { kind: 'bounded', values: out, spec: bound(spec, U_SPEC), depth: bound(depth, U_NEAREST) } };
  },
  sums: [
    { name: 'squares 64', shape: served('', 4, 64).shape, fill: 'stress', output: 'out', family: 'row', replay },
    { name: 'squares 128', shape: served('', 4, 128).shape, fill: 'stress', output: 'out', family: 'row', replay },
  ],
};

function replay(shape: GatedRmsNormShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { rows, n } = shape;
  const { x, z, weight } = contents as { x: Float32Array; z: Float32Array; weight: Float32Array };
  const out = new Float64Array(rows * n);
  for (let row = 0; row < rows; row++) {
    const scale = 1 / Math.sqrt(replaySquares(x, row * n, n, round) / n + EPS);
    for (let i = 0; i < n; i++) {
      const gate = z[gatesAt(shape, row) + i]!;
      out[row * n + i] = (x[row * n + i]! * scale * weight[i]! * gate) / (1 + Math.exp(-gate));
    }
  }
  return out;
}
