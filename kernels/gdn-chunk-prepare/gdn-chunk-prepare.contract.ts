import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { CHUNK_ROWS, mixesBounds } from '../shared/delta-chunk-bounds.ts';
import { gdnChunkPrepareReference } from './gdn-chunk-prepare.reference.ts';
import { gdnChunkPrepare, type GdnChunkPrepareShape } from './gdn-chunk-prepare.ts';

type Inputs = Readonly<Record<'q' | 'k' | 'g' | 'beta', Float32Array>>;

/** Strided sums that a dot's products go to. */
const STRIDED = 4;

const served = (name: string, rows: number, kHeads: number, vHeads: number, dk: number): ContractShape<GdnChunkPrepareShape> => ({
  name: `${name} ${rows}x${kHeads}/${vHeads}x${dk}`,
  role: 'served',
  shape: { rows, kHeads, vHeads, dk },
});

function fill(
  name: string,
  kind: Fill['kind'],
  numbers: (random: Random, dk: number) => Readonly<Record<keyof Inputs, () => number>>,
): Fill<GdnChunkPrepareShape> {
  return {
    name,
    kind,
    make: ({ rows, kHeads, vHeads, dk }, random) => {
      const next = numbers(random, dk);
      const array = (length: number, number: () => number) => Float32Array.from({ length }, number);
      return {
        q: array(rows * kHeads * dk, next.q),
        k: array(rows * kHeads * dk, next.k),
        g: array(rows * vHeads, next.g),
        beta: array(rows * vHeads, next.beta),
      };
    },
  };
}

/** Keys are at most of length 1 wherever β may be 1, so that no entry of L passes 1; in `stress` β·|k|² is at most 1 too. */
const fills: readonly Fill<GdnChunkPrepareShape>[] = [
  fill('spread', 'spread', (random, dk) => ({
    q: () => random.decades(1e-3, 1) / dk,
    k: () => random.decades(1e-2, 1) / Math.sqrt(dk),
    g: () => -(10 ** random.uniform(-4, 1)),
    beta: () => random.uniform(0, 1),
  })),
  // Slow decay, so that every row of a chunk weighs on the last.
  fill('stress', 'stress', (random, dk) => ({
    q: () => random.uniform(8, 16),
    k: () => random.uniform(8, 16),
    g: () => random.uniform(-0.01, 0),
    beta: () => random.uniform(0.1, 1) / (dk * 256),
  })),
  // An infinite key would meet products of T that underflow in float32 and not in float64; NaN has no such doubt.
  fill('classes', 'classes', (random, dk) => ({
    q: () => (random.integer(0, 4 * dk) === 0 ? random.pick([NaN, Infinity, -Infinity]) : random.pick([0.5, 1, 1e-40])),
    k: () => (random.integer(0, 16 * dk) === 0 ? NaN : random.uniform(0.5, 1) / Math.sqrt(dk)),
    g: () => random.pick([0, -0, -Infinity, -0.5, -1e-40]),
    beta: () => random.pick([0, -0, 0.5, 1]),
  })),
];

export const contract: Contract<GdnChunkPrepareShape> = {
  kernel: gdnChunkPrepare,
  meaning:
    'Rows in chunks of 16 from row 0 on. With D_im = e^(g_(m+1) + … + g_i) for rows m ≤ i of one chunk and a value head, L_im = β_i·(k_i·k_m)·D_im for m < i: mixes [rows, vHeads, 2, 16] holds, ' +
    'of row i, its row of T = (I + L)⁻¹ and its row of P, P_im = (q_i·k_m)·D_im, m counted in the chunk, zero for m > i. Value head h has key head floor(h·kHeads/vHeads). ' +
    'A NaN in row i’s key reaches the rows of T and P that use it, no row before.',
  bounds:
    'D: its argument is off by γ_(n−1)·Σ|g| for n log decays, all of one sign, and exp by 3 + 2|x| ULP. k·k and q·k: γ_m·Σ|terms|, m = dk in any order with u = 2⁻²³ (spec), or the shader’s ' +
    'ceil(dk/4) + 4 with u = 2⁻²⁴ (depth). Each further product adds one rounding to what its factors are off by, cross term included. T: a running bound of the substitution, T_im = −Σ L_it·T_tm: ' +
    '|L|·E(T) + E(L)·|T| + E·E summed, and γ of its products. Everything that a driver may flush adds 2⁻¹²⁶ times what it is multiplied with.',
  families: { substitution: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 64),
    served('one row', 1, 2, 4, 64),
    served('tiny', 17, 2, 4, 64),
    served('awkward', 37, 3, 6, 64),
    served('2B', 33, 16, 16, 128),
    served('part of a segment', 18, 1, 2, 132),
    { name: 'keys of 37', role: 'edge', shape: { rows: 2, kHeads: 1, vHeads: 1, dk: 37 } },
  ],
  fills,
  absent: { exact: 'a decay is an exp, which may be off by 3 ULP for any argument, 0 included' },
  expect: (shape, contents) => {
    const inputs = contents as unknown as Inputs;
    return {
      mixes: {
        kind: 'bounded',
        values: gdnChunkPrepareReference(shape, inputs).mixes,
        spec: mixesBounds(shape, inputs, { u: U_SPEC, path: shape.dk }),
        depth: mixesBounds(shape, inputs, { u: U_NEAREST, path: Math.ceil(shape.dk / STRIDED) + STRIDED }),
      },
    };
  },
  sums: [{ name: 'products of queries and keys', shape: served('', 2, 1, 1, 64).shape, fill: 'stress', output: 'mixes', family: 'substitution', replay }],
};

/** Two rows of one head: one entry of L, so that T needs no substitution. */
function replay({ dk }: GdnChunkPrepareShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { q, k, g, beta } = contents as unknown as Inputs;
  const dot = (a: Float32Array, i: number, m: number): number => {
    const strided = new Float64Array(STRIDED);
    for (let d = 0; d < dk; d++) strided[d % STRIDED] = round(strided[d % STRIDED]! + a[i * dk + d]! * k[m * dk + d]!);
    return strided.reduce((sum, part) => round(sum + part));
  };
  const decay = Math.exp(g[1]!);
  const mixes = new Float64Array(4 * CHUNK_ROWS);
  mixes.set([1], 0);
  mixes.set([dot(q, 0, 0)], CHUNK_ROWS);
  mixes.set([-beta[1]! * decay * dot(k, 1, 0), 1], 2 * CHUNK_ROWS);
  mixes.set([decay * dot(q, 1, 0), dot(q, 1, 1)], 3 * CHUNK_ROWS);
  return mixes;
}
