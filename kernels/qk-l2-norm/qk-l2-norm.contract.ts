import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { inverseRootRelative, replaySquares, squaresDepth } from '../shared/norm-bounds.ts';
import { qkL2NormReference } from './qk-l2-norm.reference.ts';
import { qkL2Norm, type QkL2NormShape } from './qk-l2-norm.ts';

/** `beyond`: elements of a row behind the keys, the convolution's values. */
const served = (name: string, rows: number, kHeads: number, dk: number, beyond: number): ContractShape<QkL2NormShape> => ({
  name: `${name} ${rows}x${kHeads}x${dk}`,
  role: 'served',
  shape: { rows, kHeads, dk, rowStride: 2 * kHeads * dk + beyond },
});

/** First elements of the query heads (`keys` 0) or key heads (1) of x, row by row. */
function headsOf({ rows, kHeads, dk, rowStride }: QkL2NormShape, keys: 0 | 1): number[] {
  return Array.from({ length: rows * kHeads }, (_, i) => Math.floor(i / kHeads) * rowStride + (keys * kHeads + (i % kHeads)) * dk);
}

/** x by head, with 1e30 behind the keys: its square is infinite, so that nothing may read it. */
function fill(name: string, kind: Fill['kind'], head: (random: Random, index: number, x: Float32Array) => void): Fill<QkL2NormShape> {
  return {
    name,
    kind,
    make: (shape, random) => {
      const x = new Float32Array(shape.rows * shape.rowStride).fill(1e30);
      for (const [index, start] of [...headsOf(shape, 0), ...headsOf(shape, 1)].entries()) head(random, index, x.subarray(start, start + shape.dk));
      return { x };
    },
  };
}

const spread = fill('spread', 'spread', (random, _, x) => {
  // Heads differ in size, down to where 1e-6 decides.
  const size = 10 ** random.uniform(-6, 3);
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

export const contract: Contract<QkL2NormShape> = {
  kernel: qkL2Norm,
  meaning:
    'q = x/sqrt(Σx² + 1e-6)·dk^-0.5 for the first kHeads heads of a row of x, k = x/sqrt(Σx² + 1e-6) for the next kHeads, each over its own head, in float32. ' +
    'A head with a NaN is NaN; a head with an infinity is 0 and NaN at the infinity; a head of zeros is zeros. What lies behind the keys is never read.',
  bounds:
    'Squares are positive, so their sum’s error is relative: γ_n in any order, + 1e-6 one rounding and one of that constant, together γ_{n+2} with u = 2⁻²³. inverseSqrt halves it ' +
    'and adds 2 ULP; k has one product, q two and the rounded scale. Depth: ceil(n/64) additions in a lane, 6 levels, the square, at 2⁻²⁴. ' +
    'Flushing x or a product moves an output by at most 2⁻¹²⁶·(2 + r) with r the inverse root.',
  families: { head: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 0),
    served('awkward', 3, 3, 160, 41),
    served('awkward', 2, 3, 7, 1),
    served('one over', 2, 1, 65, 3),
    served('tiny', 1, 2, 64, 256),
    served('tiny prefill', 17, 2, 64, 256),
    served('2B', 1, 16, 128, 2048),
    served('2B prefill', 3, 16, 128, 2048),
  ],
  fills: [spread, stress, classes],
  absent: { exact: 'inverseSqrt may be off by 2 ULP for any argument, so no fill has an exact result' },
  expect: (shape, contents) => {
    const { x } = contents as { x: Float32Array };
    const { dk } = shape;
    const { q, k } = qkL2NormReference(shape, { x });
    const spec = inverseRootRelative(gamma(dk + 2, U_SPEC));
    const depth = inverseRootRelative(gamma(squaresDepth(dk) + 2, U_NEAREST));
    const bounded = (values: Float64Array, keys: 0 | 1) => {
      const products = keys === 1 ? 1 : 3;
      const flushed = headsOf(shape, keys).flatMap((start) => {
        const squares = x.subarray(start, start + dk).reduce((sum, value) => sum + value * value, 0);
        return Array.from({ length: dk }, () => FLUSH * (2 + 1 / Math.sqrt(squares + 1e-6)));
      });
      const bound = (relative: number) => values.map((value, i) => Math.abs(value) * relative + (Number.isNaN(flushed[i]!) ? 0 : flushed[i]!));
      return { kind: 'bounded', values, spec: bound(spec + gamma(products, U_SPEC)), depth: bound(depth + gamma(products, U_NEAREST)) } as const;
    };
    return { q: bounded(q, 0), k: bounded(k, 1) };
  },
  sums: [
    { name: 'query squares', shape: served('', 2, 2, 64, 8).shape, fill: 'stress', output: 'q', family: 'head', replay: replay(0) },
    { name: 'key squares', shape: served('', 2, 2, 128, 8).shape, fill: 'stress', output: 'k', family: 'head', replay: replay(1) },
  ],
};

function replay(keys: 0 | 1) {
  return (shape: QkL2NormShape, contents: Contents, round: (value: number) => number): Float64Array => {
    const { x } = contents as { x: Float32Array };
    const scale = keys === 1 ? 1 : shape.dk ** -0.5;
    return Float64Array.from(
      headsOf(shape, keys).flatMap((start) => {
        const factor = scale / Math.sqrt(replaySquares(x, start, shape.dk, round) + 1e-6);
        return Array.from(x.subarray(start, start + shape.dk), (value) => value * factor);
      }),
    );
  };
}
