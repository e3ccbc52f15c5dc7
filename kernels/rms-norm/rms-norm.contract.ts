import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { replayRowSquares, ROW_LANES } from '../shared/norm-bounds.ts';
import { rmsNormReference } from './rms-norm.reference.ts';
import { rmsNorm, type RmsNormShape } from './rms-norm.ts';

const shape = (name: string, rows: number, n: number, fills?: readonly string[]): ContractShape<RmsNormShape> => ({
  name: `${name} ${rows}x${n}`,
  role: 'served',
  shape: { rows, n, eps: 1e-6 },
  ...(fills ? { fills } : {}),
});

const spread: Fill<RmsNormShape> = {
  name: 'spread',
  kind: 'spread',
  make: ({ rows, n }, random) => {
    const x = new Float32Array(rows * n);
    for (let row = 0; row < rows; row++) {
      // Rows differ in size too, down to where eps decides.
      const size = 10 ** random.uniform(-5, 3);
      for (let i = 0; i < n; i++) x[row * n + i] = size * random.decades(1e-3, 1);
    }
    return { x, weight: Float32Array.from({ length: n }, () => random.decades(1e-2, 1e2)) };
  },
};

/** Squares between 2.5e5 and 1e6: two of them pass 65504 eightfold; a bf16 sum of them is off by far more than the bound. */
const stress: Fill<RmsNormShape> = {
  name: 'stress',
  kind: 'stress',
  make: ({ rows, n }, random) => ({
    x: Float32Array.from({ length: rows * n }, () => random.uniform(500, 1000)),
    weight: Float32Array.from({ length: n }, () => random.uniform(0.5, 2)),
  }),
};

/** One class a row: a NaN (the row is NaN), an infinity (the row is 0, its own place NaN), zeros of both signs, subnormals. */
const classes: Fill<RmsNormShape> = {
  name: 'classes',
  kind: 'classes',
  make: ({ rows, n }, random) => {
    const x = Float32Array.from({ length: rows * n }, () => random.decades(1e-2, 1e2));
    const offset = random.integer(0, 4);
    for (let row = 0; row < rows; row++) {
      const at = row * n + random.integer(0, n - 1);
      const kind = (row + offset) % 5;
      if (kind === 0) x[at] = NaN;
      if (kind === 1) x[at] = Infinity;
      if (kind === 2) x[at] = -Infinity;
      if (kind === 3) for (let i = 0; i < n; i++) x[row * n + i] = i % 2 === 0 ? 0 : -0;
      if (kind === 4) for (let i = 0; i < n; i++) x[row * n + i] = random.decades(1e-44, 1e-39);
    }
    return { x, weight: Float32Array.from({ length: n }, () => random.decades(1e-2, 1e2)) };
  },
};

/** Relative error of x·r·w when the mean square has relative error `square`: r has half of it, `root` of its own, then two products. */
function relative(square: number, root: number, product: number): number {
  // (1 + δ)^(−1/2) is within δ/2 · (1 + 2δ) of 1 for the δ that occur here (< 0.01).
  return (square / 2) * (1 + 2 * square) * (1 + root) + root + product;
}

export const contract: Contract<RmsNormShape> = {
  kernel: rmsNorm,
  meaning:
    'out[r, i] = x[r, i]·w[i] / sqrt(mean_j x[r, j]² + eps) in float32, w as given (an MLX checkpoint has the 1 already added). A row with a NaN is NaN; ' +
    'a row with an infinity is 0 and NaN at the infinity; a row of zeros is zeros.',
  bounds:
    'All squares are positive, so the sum’s error is relative: a square and at most n − 1 additions in any order, γ_n; the division by n 2.5 ULP and + eps one rounding, ' +
    'together γ_{n+4} with u = 2⁻²³ (ULP ≤ u relative). The root halves it; inverseSqrt adds 2 ULP, two products two roundings: spec = |out|·(γ_{n+4}/2 + γ_4). ' +
    'Depth: a lane adds up to 4·ceil(n / 1024) squares, sixteen lanes sixteen sums each and every lane those, γ_{4·ceil(n/1024)+31} with u = 2⁻²⁴; division, inverseSqrt and eps as the table has them. ' +
    'Flushing x, w, a product or a square moves out by at most 2⁻¹²⁶·(1 + |w|(1 + r) + r|x|), and a square’s 2⁻¹²⁶ is nothing next to eps.',
  families: { row: ['row'] },
  shapes: [
    shape('smallest', 1, 1),
    shape('awkward', 7, 77),
    shape('awkward', 5, 129),
    shape('tiny', 1, 256),
    shape('tiny prefill', 17, 256),
    shape('tiny head', 6, 64),
    shape('2B', 1, 2048),
    shape('2B prefill', 6, 2048),
    shape('long', 5, 7169, ['spread', 'stress']),
  ],
  fills: [spread, stress, classes],
  absent: { exact: 'inverseSqrt may be off by 2 ULP for any argument, so no fill has an exact result' },
  expect: (at, contents) => {
    const { x, weight } = contents as { x: Float32Array; weight: Float32Array };
    const { values, scales } = rmsNormReference(at, x, weight);
    const { n } = at;
    const spec = relative(gamma(n + 4, U_SPEC), 2 * U_SPEC, gamma(2, U_SPEC));
    const depth = relative(gamma(4 * Math.ceil(n / (4 * ROW_LANES)) + 31, U_NEAREST) + 3.5 * U_SPEC, 2 * U_SPEC, gamma(2, U_NEAREST));
    const flushed = values.map((_, i) => {
      const scale = scales[Math.floor(i / n)]!;
      const size = Math.abs(weight[i % n]!);
      return FLUSH * (1 + size * (1 + scale) + scale * Math.abs(x[i]!));
    });
    return {
      out: {
        kind: 'bounded',
        values,
        spec: values.map((value, i) => Math.abs(value) * spec + flushed[i]!),
        depth: values.map((value, i) => Math.abs(value) * depth + flushed[i]!),
      },
    };
  },
  sums: [
    { name: 'squares 256', shape: { rows: 4, n: 256, eps: 1e-6 }, fill: 'stress', output: 'out', family: 'row', replay },
    { name: 'squares 2048', shape: { rows: 4, n: 2048, eps: 1e-6 }, fill: 'stress', output: 'out', family: 'row', replay },
  ],
};

/** out with the squares added in another accumulator: lanes by fours of elements, then sixteen neighbouring lanes, then those sixteen. */
function replay({ rows, n, eps }: RmsNormShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { x, weight } = contents as { x: Float32Array; weight: Float32Array };
  const out = new Float64Array(rows * n);
  for (let row = 0; row < rows; row++) {
    const whole = replayRowSquares(x, row * n, n, round);
    const scale = 1 / Math.sqrt(whole / n + Math.fround(eps));
    for (let i = 0; i < n; i++) out[row * n + i] = x[row * n + i]! * scale * weight[i]!;
  }
  return out;
}
