import type { Contents, Contract, ContractShape, Expected, Fill } from '../contract.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { exactTable, plantClass, positiveTable, spreadTable, type Q4Table } from '../shared/q4-fill.ts';
import { fixedClasses, replaySplit, splitErrors, type SplitError } from '../shared/split-k-bounds.ts';
import { SPLIT_FAMILIES } from '../shared/split-k.ts';
import { qmmQ4Reference, qmmQ4Row, qmmQ4SplitReference } from './qmm-q4.reference.ts';
import { qmmQ4, type QmmQ4Shape } from './qmm-q4.ts';

const SERIAL = ['scalar', 'vec4', 'tile-rows', 'ncols', 'tile-32', 'tile'] as const;

const served = (name: string, rows: number, n: number, k: number, fills?: readonly string[]): ContractShape<QmmQ4Shape> => ({
  name: `${name} ${rows}x${n}x${k}`,
  role: 'served',
  shape: { rows, n, k },
  ...(fills ? { fills } : {}),
});

/** For family serial-k alone: family split-k takes far longer for it on software drivers, and has slices of the same k. */
const serial = (name: string, rows: number, n: number, k: number, fills?: readonly string[]): ContractShape<QmmQ4Shape> => ({
  ...served(name, rows, n, k, fills),
  variants: SERIAL,
});

const edge = (name: string, rows: number, n: number, k: number): ContractShape<QmmQ4Shape> => ({
  name: `${name} ${rows}x${n}x${k}`,
  role: 'edge',
  shape: { rows, n, k },
});

function inputs(x: Float32Array, table: Q4Table): Contents {
  return { x, codes: table.codes, scales: table.scales, biases: table.biases };
}

const spread: Fill<QmmQ4Shape> = {
  name: 'spread',
  kind: 'spread',
  make: ({ rows, n, k }, random) =>
    inputs(
      Float32Array.from({ length: rows * k }, () => random.decades(1e-3, 1e3)),
      spreadTable(random, n * k),
    ),
};

/** x in quarters within ±2, weights in sixteenths within ±5.75: sums of k ≤ 6144 products are multiples of 2⁻⁶ below 2¹⁷. */
const exact: Fill<QmmQ4Shape> = {
  name: 'exact',
  kind: 'exact',
  make: ({ rows, n, k }, random) =>
    inputs(
      Float32Array.from({ length: rows * k }, () => random.integer(-8, 8) / 4),
      exactTable(random, n * k),
    ),
};

/** Positive terms between 256 and 2944: from k = 256 on every sum passes 65504, and a bf16 sum stops growing long before. */
const stress: Fill<QmmQ4Shape> = {
  name: 'stress',
  kind: 'stress',
  make: ({ rows, n, k }, random) =>
    inputs(
      Float32Array.from({ length: rows * k }, () => random.uniform(256, 512)),
      positiveTable(random, n * k),
    ),
};

/** One class a row, over exact weights, so that a weight is 0 in the reference where it is 0 on the device. */
const classes: Fill<QmmQ4Shape> = {
  name: 'classes',
  kind: 'classes',
  make: ({ rows, n, k }, random) => {
    const x = Float32Array.from({ length: rows * k }, () => random.integer(-8, 8) / 4);
    const offset = random.integer(0, 5);
    for (let row = 0; row < rows; row++) plantClass((row + offset) % 6, x.subarray(row * k, row * k + k), random);
    return inputs(x, exactTable(random, n * k));
  },
};

export const contract: Contract<QmmQ4Shape> = {
  kernel: qmmQ4,
  meaning:
    'y[r, c] = Σ_i x[r, i]·w[c, i] in float32, w = scale·q + bias. q is the 4-bit code i mod 8, lowest nibble first, of word i/8 of row c; ' +
    'scale and bias are the bf16 values i/64 of row c, and the rows’ lists follow each other without padding. k is a multiple of 64; others are refused. ' +
    'Families split-k and fixed have, by slices of 32, scale·Σ q·x + bias·Σ x: the same sum where x is finite and below 2⁹²; where not, split-k is NaN where an infinity meets a code of 0, and fixed everywhere.',
  bounds:
    'Spec: forming w costs two roundings (scale·q, + bias), the product one, and with any order of additions a term meets at most k − 1 more; ' +
    'so |err| ≤ γ_{k+2}·Σ|x|(|scale·q| + |bias|) with u = 2⁻²³, fused or not. Depth: scale·q is exact (8-bit times 4-bit significands), so w has ' +
    'one rounding relative to itself, the product one and the serial sum k − 1: γ_{k+1}·Σ|x·w| with u = 2⁻²⁴. Both add 2⁻¹²⁶·(16Σ|x| + Σ|w| + 2k + 1) for operands, ' +
    'weights and results that a driver may flush. ' +
    'Family split-k, over terms |scale|·Σ q|x| + |bias|·Σ|x|. Spec: a product with q, 31 additions in a slice, a product with scale or bias, and with any order the ' +
    'additions of k/16 summands: γ_{k/16+32} with u = 2⁻²³. Depth (shared/split-k-bounds.ts): γ_{20+2·ceil(k/1024)} with u = 2⁻²⁴; q·16^j, its differences and quotients by 16 are exact. ' +
    'Family fixed rounds x to a unit, at most 2⁻²¹ of the largest of a slice, and adds q·x exactly: over peaks Σ_slices |scale|·Σ q·max|x|, 2⁻²¹ of them in spec and 2⁻²² in depth, besides the terms, ' +
    'whose depth is γ_{15+2·ceil(k/1024)}. Flushing: 2⁻¹²⁶·16·(Σ|x| + Σ(|scale·q| + |bias| + |scale|) + k).',
  families: { 'serial-k': SERIAL, ...SPLIT_FAMILIES },
  shapes: [
    served('smallest', 1, 1, 64),
    served('awkward', 3, 77, 320),
    served('awkward', 1, 5, 4160, ['spread']),
    served('awkward', 5, 130, 832),
    served('tiny a/b', 1, 4, 256),
    served('tiny k/v', 1, 128, 256),
    served('tiny o, z', 1, 256, 256),
    served('tiny down', 1, 256, 768),
    served('2B a/b', 3, 16, 2048),
    served('2B gate/up, slice', 1, 1030, 2048, ['exact']),
    served('2B down, slice', 1, 514, 6144, ['exact']),
    serial('awkward', 17, 65, 64),
    serial('awkward', 129, 1, 64, ['spread']),
    serial('tiny q, qkv', 1, 512, 256),
    serial('tiny gate/up', 1, 768, 256),
    serial('tiny head', 1, 2048, 256, ['spread', 'exact', 'stress']),
    serial('tiny q, qkv prefill', 17, 512, 256, ['spread', 'exact']),
    serial('tiny prefill, slice', 65, 66, 256, ['exact']),
    serial('tiny down prefill', 33, 256, 768, ['spread']),
    serial('2B k/v', 1, 512, 2048, ['spread', 'exact', 'stress']),
    serial('2B o', 1, 2048, 2048, ['spread']),
    serial('2B gate/up, qkv', 1, 6144, 2048, ['spread']),
    serial('2B down', 1, 2048, 6144, ['exact']),
    serial('2B head slice', 1, 4099, 2048, ['spread']),
    edge('ragged group', 1, 8, 100),
    edge('half a group', 2, 8, 32),
  ],
  fills: [spread, exact, stress, classes],
  expect: (shape, contents, family) => {
    if (family !== 'serial-k') return { y: splitExpected(shape, contents, family) };
    const { x, codes, scales, biases } = contents as Record<'codes' | 'scales' | 'biases', Uint32Array> & { x: Float32Array };
    const { values, terms, products, units } = qmmQ4Reference(shape, x, codes, scales, biases);
    const { k } = shape;
    const specGamma = gamma(k + 2, U_SPEC);
    const depthGamma = gamma(k + 1, U_NEAREST);
    const flushed = units.map((unit) => 16 * FLUSH * unit);
    return {
      y: {
        kind: 'bounded',
        values,
        spec: terms.map((term, i) => specGamma * term + flushed[i]!),
        depth: products.map((product, i) => depthGamma * product + flushed[i]!),
      },
    };
  },
  sums: [
    { name: 'k sum 256', shape: { rows: 1, n: 64, k: 256 }, fill: 'stress', output: 'y', family: 'serial-k', replay },
    { name: 'k sum 2048', shape: { rows: 2, n: 32, k: 2048 }, fill: 'stress', output: 'y', family: 'serial-k', replay },
    { name: 'slices 256', shape: { rows: 1, n: 64, k: 256 }, fill: 'stress', output: 'y', family: 'split-k', replay: replayBySlices('split-k') },
    { name: 'slices 6144', shape: { rows: 1, n: 32, k: 6144 }, fill: 'stress', output: 'y', family: 'split-k', replay: replayBySlices('split-k') },
    { name: 'slices 256', shape: { rows: 1, n: 64, k: 256 }, fill: 'stress', output: 'y', family: 'fixed', replay: replayBySlices('fixed') },
    { name: 'slices 6144', shape: { rows: 1, n: 32, k: 6144 }, fill: 'stress', output: 'y', family: 'fixed', replay: replayBySlices('fixed') },
  ],
};

function splitExpected(shape: QmmQ4Shape, contents: Contents, family: string): Expected {
  const { x, codes, scales, biases } = contents as Record<'codes' | 'scales' | 'biases', Uint32Array> & { x: Float32Array };
  const { values, terms, peaks, units } = qmmQ4SplitReference(shape, x, codes, scales, biases);
  const { spec, depth } = splitErrors(family, shape.k);
  const bound = ({ relative, peak }: SplitError): Float64Array => terms.map((term, i) => relative * term + peak * peaks[i]! + 16 * FLUSH * units[i]!);
  const { n, k } = shape;
  for (let row = 0; row < shape.rows; row++) {
    const at = values.subarray(row * n, row * n + n);
    at.set(fixedClasses(family, at, x.subarray(row * k, row * k + k)));
  }
  return { kind: 'bounded', values, spec: bound(spec), depth: bound(depth) };
}

/** y of a family by slices with the sums kept in another accumulator. */
function replayBySlices(family: string) {
  return ({ rows, n, k }: QmmQ4Shape, contents: Contents, round: (value: number) => number): Float64Array => {
    const { x, codes, scales, biases } = contents as Record<'codes' | 'scales' | 'biases', Uint32Array> & { x: Float32Array };
    return Float64Array.from({ length: rows * n }, (_, i) =>
      replaySplit(family, { x, start: Math.floor(i / n) * k, k }, { codes, scales, biases }, i % n, round),
    );
  };
}

/** y with the sum kept in another accumulator: float32 weights, products added one by one from 0. */
function replay({ rows, n, k }: QmmQ4Shape, contents: Contents, round: (value: number) => number): Float64Array {
  const { x, codes, scales, biases } = contents as Record<'codes' | 'scales' | 'biases', Uint32Array> & { x: Float32Array };
  const weights = new Float64Array(k);
  const y = new Float64Array(rows * n);
  for (let column = 0; column < n; column++) {
    qmmQ4Row(k, column, codes, scales, biases, weights, new Float64Array(k));
    for (let row = 0; row < rows; row++) {
      let sum = 0;
      for (let i = 0; i < k; i++) sum = round(sum + x[row * k + i]! * Math.fround(weights[i]!));
      y[row * n + column] = sum;
    }
  }
  return y;
}
