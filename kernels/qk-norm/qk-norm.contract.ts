import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { headNormBounds, replaySquares } from '../shared/norm-bounds.ts';
import { qkNormReference } from './qk-norm.reference.ts';
import { qkNorm, type QkNormShape } from './qk-norm.ts';

/** What the device gets: float32 eps. */
const EPS = Math.fround(1e-6);

/** Queries lie between gates (every second head of q_proj), keys side by side. */
const served = (name: string, rows: number, heads: number, headDim: number, apart: 1 | 2): ContractShape<QkNormShape> => ({
  name: `${name} ${rows}x${heads}x${headDim}`,
  role: 'served',
  shape: { rows, heads, headDim, rowStride: heads * apart * headDim, headStride: apart * headDim, eps: EPS },
});

function headsOf({ rows, heads, rowStride, headStride }: QkNormShape): number[] {
  return Array.from({ length: rows * heads }, (_, i) => Math.floor(i / heads) * rowStride + (i % heads) * headStride);
}

/** x by head, with 1e30 between heads (its square is infinite, so that nothing may read it), and weights over four decades. */
function fill(name: string, kind: Fill['kind'], head: (random: Random, index: number, x: Float32Array) => void): Fill<QkNormShape> {
  return {
    name,
    kind,
    make: (shape, random) => {
      const x = new Float32Array(qkNorm.sizes(shape)['x']!).fill(1e30);
      for (const [index, start] of headsOf(shape).entries()) head(random, index, x.subarray(start, start + shape.headDim));
      return { x, weight: Float32Array.from({ length: shape.headDim }, () => random.decades(1e-2, 1e2)) };
    },
  };
}

const spread = fill('spread', 'spread', (random, _, x) => {
  const size = 10 ** random.uniform(-5, 3);
  for (let i = 0; i < x.length; i++) x[i] = size * random.decades(1e-3, 1);
});

const stress = fill('stress', 'stress', (random, _, x) => {
  for (let i = 0; i < x.length; i++) x[i] = random.uniform(500, 1000);
});

const classes = fill('classes', 'classes', (random, index, x) => {
  for (let i = 0; i < x.length; i++) x[i] = random.decades(1e-2, 1e2);
  const at = random.integer(0, x.length - 1);
  const kind = index % 5;
  if (kind < 3) x[at] = [NaN, Infinity, -Infinity][kind]!;
  else for (let i = 0; i < x.length; i++) x[i] = kind === 3 ? (i % 2 ? -0 : 0) : random.decades(1e-44, 1e-39);
});

export const contract: Contract<QkNormShape> = {
  kernel: qkNorm,
  meaning:
    'out[r, h, i] = x·weight[i] / sqrt(mean over the head of x² + eps) in float32 with x at r·rowStride + h·headStride + i; weight as given (an MLX checkpoint has the 1 added). ' +
    'A head with a NaN is NaN; a head with an infinity is 0 and NaN at the infinity; a head of zeros is zeros. What lies between heads is never read.',
  bounds:
    'Squares are positive, so their sum’s error is relative: γ_n in any order; division by headDim 2.5 ULP and + eps one rounding, together γ_{n+4}, u = 2⁻²³. ' +
    'inverseSqrt halves it and adds 2 ULP, two products two roundings. Depth: ceil(n/64) additions in a lane, 6 levels, the square, at 2⁻²⁴; division, inverseSqrt and eps as ' +
    'the table has them. Flushing x, weight or a product moves out by at most 2⁻¹²⁶·(1 + |w|(1 + r) + r|x|) with r the inverse root.',
  families: { head: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 1),
    served('awkward', 3, 5, 160, 2),
    served('awkward', 2, 3, 7, 2),
    served('one over', 2, 3, 65, 1),
    served('tiny q', 1, 4, 64, 2),
    served('tiny k', 1, 2, 64, 1),
    served('tiny q prefill', 17, 4, 64, 2),
    served('2B q', 1, 8, 256, 2),
    served('2B k', 1, 2, 256, 1),
    served('2B q prefill', 5, 8, 256, 2),
  ],
  fills: [spread, stress, classes],
  absent: { exact: 'inverseSqrt may be off by 2 ULP for any argument, so no fill has an exact result' },
  expect: (shape, contents) => {
    const { x, weight } = contents as { x: Float32Array; weight: Float32Array };
    const { headDim } = shape;
    const { out } = qkNormReference(shape, { x, weight });
    const heads = headsOf(shape).map((start) => headNormBounds(x.subarray(start, start + headDim), weight, EPS));
    const joined = (line: 'spec' | 'depth') => Float64Array.from(heads.flatMap((head) => [...head[line]]));
    return { out: { kind: 'bounded', values: out, spec: joined('spec'), depth: joined('depth') } };
  },
  sums: [
    { name: 'squares 64', shape: served('', 2, 2, 64, 2).shape, fill: 'stress', output: 'out', family: 'head', replay },
    { name: 'squares 256', shape: served('', 2, 2, 256, 2).shape, fill: 'stress', output: 'out', family: 'head', replay },
  ],
};

function replay(shape: QkNormShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { x, weight } = contents as { x: Float32Array; weight: Float32Array };
  return Float64Array.from(
    headsOf(shape).flatMap((start) => {
      const scale = 1 / Math.sqrt(replaySquares(x, start, shape.headDim, round) / shape.headDim + EPS);
      return Array.from(x.subarray(start, start + shape.headDim), (value, i) => value * scale * weight[i]!);
    }),
  );
}
