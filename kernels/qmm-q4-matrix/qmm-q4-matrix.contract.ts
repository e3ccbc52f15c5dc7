import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { halvesOf } from '../shared/halves.ts';
import { exactTable, plantClass, positiveTable, spreadTable, type Q4Table } from '../shared/q4-fill.ts';
import { qmmQ4MatrixReference, type QmmQ4MatrixInputs } from './qmm-q4-matrix.reference.ts';
import { qmmQ4Matrix, type QmmQ4MatrixShape } from './qmm-q4-matrix.ts';

const served = (name: string, rows: number, n: number, k: number, parts: number, fills?: readonly string[]): ContractShape<QmmQ4MatrixShape> => ({
  name: `${name} ${rows}x${n}x${k}, ${parts} parts`,
  role: 'served',
  shape: { rows, n, k, parts },
  ...(fills ? { fills } : {}),
});

/** Every fill gives what rows-to-halves makes of an x. */
function inputs(shape: QmmQ4MatrixShape, x: Float32Array, { codes, scales, biases }: Q4Table): Contents {
  return { ...halvesOf(shape, x), codes, scales, biases };
}

const elements = ({ rows, k }: QmmQ4MatrixShape, draw: () => number): Float32Array => Float32Array.from({ length: rows * k }, draw);

const spread: Fill<QmmQ4MatrixShape> = {
  name: 'spread',
  kind: 'spread',
  make: (shape, random) =>
    inputs(
      shape,
      elements(shape, () => random.decades(1e-3, 1e3)),
      spreadTable(random, shape.n * shape.k),
    ),
};

/** Rows and columns of very different size: one of 1e30 and one of 1e-30, over weights of either; y is finite. */
const range: Fill<QmmQ4MatrixShape> = {
  name: 'range',
  kind: 'spread',
  make: (shape, random) => {
    const { rows, n, k } = shape;
    const row = Float64Array.from({ length: rows }, () => Math.abs(random.decades(1e-30, 1e30)));
    const table = spreadTable(random, n * k);
    for (let column = 0; column < n; column++) {
      const shift = random.integer(-20, 10) << 7;
      for (let g = (column * k) / 64; g < ((column + 1) * k) / 64; g++) for (const pairs of [table.scales, table.biases]) shiftHalf(pairs, g, shift);
    }
    return inputs(
      shape,
      elements(shape, () => random.uniform(-1, 1)).map((value, i) => value * row[Math.floor(i / k)]!),
      table,
    );
  },
};

/** Adds to the bits of a bf16 value in a list of pairs: a multiple of 128 moves its exponent. */
function shiftHalf(pairs: Uint32Array, index: number, by: number): void {
  const at = 16 * (index & 1);
  const bits = (pairs[index >> 1]! >>> at) & 0xffff;
  pairs[index >> 1] = ((pairs[index >> 1]! & ~(0xffff << at)) | ((bits + by) << at)) >>> 0;
}

/** x in quarters within ±2, weights in sixteenths within ±5.75: every sum is a multiple of 2⁻⁶ below 2¹⁷. */
const exact: Fill<QmmQ4MatrixShape> = {
  name: 'exact',
  kind: 'exact',
  make: (shape, random) =>
    inputs(
      shape,
      elements(shape, () => random.integer(-8, 8) / 4),
      exactTable(random, shape.n * shape.k),
    ),
};

/** Sums of a group near 24,576 by 1.5 to 4: from k = 256 on every sum passes 65504, and a bf16 sum is off by a few hundred. */
const stress: Fill<QmmQ4MatrixShape> = {
  name: 'stress',
  kind: 'stress',
  make: (shape, random) =>
    inputs(
      shape,
      elements(shape, () => random.uniform(256, 512)),
      positiveTable(random, shape.n * shape.k),
    ),
};

/** One class a row; and of three columns or more, one has an infinite scale and one a bias that is NaN. */
const classes: Fill<QmmQ4MatrixShape> = {
  name: 'classes',
  kind: 'classes',
  make: (shape, random) => {
    const { rows, n, k } = shape;
    const x = elements(shape, () => random.integer(-8, 8) / 4);
    const offset = random.integer(0, 5);
    for (let row = 0; row < rows; row++) plantClass((row + offset) % 6, x.subarray(row * k, row * k + k), random);
    const table = exactTable(random, n * k);
    if (n >= 3) {
      plantBits(table.scales, somewhere(random, 1, k), 0xff80);
      plantBits(table.biases, somewhere(random, 2, k), 0x7fc0);
    }
    return inputs(shape, x, table);
  },
};

const somewhere = (random: Random, column: number, k: number): number => (column * k) / 64 + random.integer(0, k / 64 - 1);

function plantBits(pairs: Uint32Array, index: number, bits: number): void {
  const at = 16 * (index & 1);
  pairs[index >> 1] = ((pairs[index >> 1]! & ~(0xffff << at)) | (bits << at)) >>> 0;
}

/** Additions that a term meets: in each step of 16 elements as many operands and the sum so far are brought to one size. */
function additions({ k, parts }: QmmQ4MatrixShape): number {
  return ((k * parts + 64 * Math.ceil(k / 1024)) * 17) / 16;
}

export const contract: Contract<QmmQ4MatrixShape> = {
  kernel: qmmQ4Matrix,
  meaning:
    'y[r, c] = 2^−e[r] · Σ_g (scale·Σ_i (q − 8)·h[r, i] + (bias + 8·scale)·s[r, g]) in float32, which is Σ_i x[r, i]·(scale·q + bias) for the halves h, sums s and exponents e that ' +
    'rows-to-halves makes of x; codes, scales and biases as in qmm-q4. So against x itself: one part of halves adds 2⁻¹¹·Σ|x·scale·(q − 8)|, two add 2⁻²² of it, and either ' +
    '2⁻²⁸ of the row’s largest times Σ|scale·(q − 8)|. A row whose exponent word is 32767, or a column with a scale or bias that is not finite, is NaN throughout. No finite input overflows ' +
    'on the way: rows and columns are scaled by powers of two.',
  bounds:
    'All in the scale of the halves, then times 2^−e. Weights: scale·(q − 8) is exact in a half. Matrix units multiply halves exactly; no specification bounds their sums, and those of NVIDIA cut ' +
    'each operand of an addition to 24 bits of the largest (Fasi and others, 2021), so they are held to that: 16 products and the sum so far a step, each within 2⁻²³ of the largest, which is at ' +
    'most T = Σ|scale·(q − 8)·h| + Σ(|8·scale| + |bias|)·|s|: γ of 17/16 of the elements of k, padded, with u = 2⁻²³ in spec and 2⁻²⁴ in depth. Group terms: bias + 8·scale has one rounding, ' +
    'and it and s are two halves each, in any direction 2⁻²⁰ of themselves, to nearest 2⁻²²: spec 2⁻¹⁸, depth 2⁻²⁰ of Σ(|8·scale| + |bias|)·|s|. Halves below 2⁻¹⁴ may be 0: 2⁻⁸ in s; 2⁻²⁰ over the ' +
    'column’s power of two in a bias; all of a scale that small. Operands and results that a driver may flush: 2⁻¹²⁶·(8Σ|h| + 9Σ|s|), and 2⁻¹²⁵ in y.',
  families: { matrix: ['tile'] },
  shapes: [
    served('smallest', 1, 1, 64, 1),
    served('smallest', 1, 1, 64, 2),
    served('awkward', 7, 77, 320, 1),
    served('awkward', 7, 77, 320, 2),
    served('several tiles', 131, 133, 192, 1),
    served('several tiles', 130, 260, 128, 2, ['spread', 'exact']),
    served('more than a step of groups', 9, 20, 1088, 1),
    served('tiny q, qkv prefill', 17, 512, 256, 1, ['spread', 'exact']),
    served('tiny down prefill', 33, 256, 768, 2, ['spread', 'exact']),
    served('2B a/b', 6, 16, 2048, 1),
    served('2B gate/up, slice', 5, 130, 2048, 2, ['spread', 'exact']),
    served('2B down, slice', 3, 129, 6144, 1, ['spread', 'exact']),
    { name: 'ragged group', role: 'edge', shape: { rows: 1, n: 8, k: 100, parts: 1 } },
    { name: 'three parts', role: 'edge', shape: { rows: 1, n: 8, k: 64, parts: 3 } },
  ],
  fills: [spread, range, exact, stress, classes],
  expect: (shape, contents) => {
    const { values, products, offsets, offsetUnits, small, halfSums, sumSums, factors, ups } = qmmQ4MatrixReference(
      shape,
      contents as unknown as QmmQ4MatrixInputs,
    );
    const steps = additions(shape);
    const bound = (unit: number, split: number): Float64Array =>
      values.map((_, i) => {
        const row = Math.floor(i / shape.n);
        const cut = gamma(steps, unit) * (products[i]! + offsets[i]!) + split * offsets[i]!;
        const lost = 2 ** -8 * offsetUnits[i]! + (2 ** -20 / ups[i % shape.n]!) * sumSums[row]! + small[i]!;
        return (cut + lost + FLUSH * (8 * halfSums[row]! + 9 * sumSums[row]!)) * factors[row]! + 2 * FLUSH;
      });
    return { y: { kind: 'bounded', values, spec: bound(U_SPEC, 2 ** -18), depth: bound(U_NEAREST, 2 ** -20) } };
  },
  sums: [
    { name: 'k sum 256', shape: { rows: 2, n: 32, k: 256, parts: 1 }, fill: 'stress', output: 'y', family: 'matrix', replay },
    { name: 'k sum 2048', shape: { rows: 1, n: 8, k: 2048, parts: 2 }, fill: 'stress', output: 'y', family: 'matrix', replay },
  ],
};

/** y with the sum kept in another accumulator: sixteen products at a time, those of the halves first, then those of the groups. */
function replay(shape: QmmQ4MatrixShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { rows, n, k, parts } = shape;
  const given = contents as unknown as QmmQ4MatrixInputs;
  const y = new Float64Array(rows * n);
  // The terms of one output: its row's halves one element at a time, so that the reference's own reading of the layouts serves.
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < n; column++) {
      const factor = 2 ** -(given.exponents[row]! | 0);
      const terms = termsOf(given, { row, column, k, parts });
      let sum = 0;
      for (let i = 0; i < terms.length; i += 16) sum = round(sum + terms.slice(i, i + 16).reduce((a, b) => a + b, 0) * factor);
      y[row * n + column] = sum;
    }
  }
  return y;
}

function termsOf({ halves, sums, codes, scales, biases }: QmmQ4MatrixInputs, at: { row: number; column: number; k: number; parts: number }): number[] {
  const { row, column, k, parts } = at;
  const groups = k / 64;
  const words = new DataView(new ArrayBuffer(4));
  const bf16 = (pairs: Uint32Array, index: number): number => {
    words.setUint32(0, ((pairs[index >> 1]! >>> (16 * (index & 1))) & 0xffff) << 16);
    return words.getFloat32(0);
  };
  const terms: number[] = [];
  for (let i = 0; i < parts * k; i++) {
    const place = (i % 4) * 2 + ((i % 8) >> 2);
    const bits = (halves[(row * parts * k) / 2 + (i >> 3) * 4 + (place >> 1)]! >>> (16 * (place & 1))) & 0xffff;
    const element = i % k;
    const code = (codes[column * (k / 8) + (element >> 3)]! >>> (4 * (element & 7))) & 15;
    // Every half of this fill is positive and normal, or 0.
    const h = bits === 0 ? 0 : (bits & 0x8000 ? -1 : 1) * (1 + (bits & 1023) / 1024) * 2 ** (((bits >> 10) & 31) - 15);
    terms.push(h * bf16(scales, column * groups + (element >> 6)) * (code - 8));
  }
  for (let g = 0; g < groups; g++) {
    const index = column * groups + g;
    terms.push((bf16(biases, index) + 8 * bf16(scales, index)) * sums[row * groups + g]!, 0, 0, 0);
  }
  return terms;
}
