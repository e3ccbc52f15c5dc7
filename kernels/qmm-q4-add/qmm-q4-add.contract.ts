import type { Contents, Contract, ContractShape, Fill, FillKind } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { exactTable, plantClass, positiveTable, spreadTable, type Q4Table } from '../shared/q4-fill.ts';
import { fixedClasses, replaySplit, splitErrors, type SplitError } from '../shared/split-k-bounds.ts';
import { SPLIT_FAMILIES } from '../shared/split-k.ts';
import { qmmQ4AddReference } from './qmm-q4-add.reference.ts';
import { qmmQ4Add, type QmmQ4AddShape } from './qmm-q4-add.ts';

type Inputs = Record<'codes' | 'scales' | 'biases', Uint32Array> & Record<'x' | 'residual', Float32Array>;

const shape = (role: 'served' | 'edge', name: string, n: number, k: number, fills?: readonly string[]): ContractShape<QmmQ4AddShape> => ({
  name: `${name} ${n}x${k}`,
  role,
  shape: { n, k },
  ...(fills ? { fills } : {}),
});

function fill(
  name: string,
  kind: FillKind,
  value: (random: Random) => number,
  table: (random: Random, elements: number) => Q4Table,
  plant: (x: Float32Array, random: Random) => void = () => {},
): Fill<QmmQ4AddShape> {
  return {
    name,
    kind,
    make: ({ n, k }, random): Contents => {
      const x = Float32Array.from({ length: k }, () => value(random));
      plant(x, random);
      const residual = Float32Array.from({ length: n }, () => value(random));
      const { codes, scales, biases } = table(random, n * k);
      return { x, codes, scales, biases, residual };
    },
  };
}

const quarters = (random: Random): number => random.integer(-8, 8) / 4;

/** One class a launch, over exact weights, so that a product is NaN in the reference where it is on the device. */
const classes = (name: string, kind: number): Fill<QmmQ4AddShape> => fill(name, 'classes', quarters, exactTable, (x, random) => plantClass(kind, x, random));

export const contract: Contract<QmmQ4AddShape> = {
  kernel: qmmQ4Add,
  meaning:
    'out[c] = residual[c] + Σ_i x[i]·w[c, i] in float32 for one row x, w = scale·q + bias laid out as in qmm-q4, computed by slices of 32 as scale·Σ q·x + bias·Σ x: ' +
    'in family split-k NaN where an infinity meets a code of 0, in family fixed wherever x has a NaN or an infinity. k is a multiple of 64; others are refused.',
  bounds:
    'The product as qmm-q4’s family has it, over terms |scale|·Σ q|x| + |bias|·Σ|x|, and peaks in family fixed; the sum with residual rounds once more, what is itself at most |out| and the product’s error. ' +
    'Spec: γ_{k/16+32}·terms·(1 + u) + u·|out| with u = 2⁻²³, any order of additions. Depth: γ_{20+2·ceil(k/1024)} with u = 2⁻²⁴ (shared/split-k-bounds.ts). ' +
    'Flushing: 2⁻¹²⁶·16·(Σ|x| + Σ(|scale·q| + |bias| + |scale|) + k), and 2·2⁻¹²⁶ for residual and result.',
  families: SPLIT_FAMILIES,
  shapes: [
    shape('served', 'smallest', 1, 64),
    shape('served', 'awkward', 77, 320),
    shape('served', 'awkward', 5, 4160, ['spread', 'exact', 'nan']),
    shape('served', 'awkward', 131, 1088, ['spread', 'exact']),
    shape('served', 'tiny o', 256, 256),
    shape('served', 'tiny down', 256, 768, ['spread', 'exact']),
    shape('served', '2B o', 2048, 2048, ['spread']),
    shape('served', '2B down slice', 514, 6144, ['exact']),
    shape('edge', 'ragged group', 8, 96),
  ],
  fills: [
    fill('spread', 'spread', (random) => random.decades(1e-3, 1e3), spreadTable),
    // Sums of k ≤ 6144 products and a residual are multiples of 2⁻⁶ below 2¹⁷.
    fill('exact', 'exact', quarters, exactTable),
    fill('stress', 'stress', (random) => random.uniform(256, 512), positiveTable),
    classes('nan', 0),
    classes('infinity', 1),
    classes('both infinities', 3),
    classes('subnormals', 5),
  ],
  expect: (at, contents, family) => {
    const { x, codes, scales, biases, residual } = contents as Inputs;
    const { values, terms, peaks, units } = qmmQ4AddReference(at, x, codes, scales, biases, residual);
    const { spec, depth } = splitErrors(family, at.k);
    const bound = ({ relative, peak }: SplitError, u: number): Float64Array =>
      values.map((value, i) => (relative * terms[i]! + peak * peaks[i]!) * (1 + u) + u * Math.abs(value) + (16 * units[i]! + 2) * FLUSH);
    return { out: { kind: 'bounded', values: fixedClasses(family, values, x), spec: bound(spec, U_SPEC), depth: bound(depth, U_NEAREST) } };
  },
  sums: [
    { name: 'slices 256', shape: { n: 64, k: 256 }, fill: 'stress', output: 'out', family: 'split-k', replay: replay('split-k') },
    { name: 'slices 6144', shape: { n: 16, k: 6144 }, fill: 'stress', output: 'out', family: 'split-k', replay: replay('split-k') },
    { name: 'slices 256', shape: { n: 64, k: 256 }, fill: 'stress', output: 'out', family: 'fixed', replay: replay('fixed') },
    { name: 'slices 6144', shape: { n: 16, k: 6144 }, fill: 'stress', output: 'out', family: 'fixed', replay: replay('fixed') },
  ],
};

function replay(family: string) {
  return ({ n, k }: QmmQ4AddShape, contents: Contents, round: (value: number) => number): Float64Array => {
    const { x, residual, ...table } = contents as Inputs;
    return Float64Array.from({ length: n }, (_, column) => round(residual[column]! + replaySplit(family, { x, start: 0, k }, table, column, round)));
  };
}
