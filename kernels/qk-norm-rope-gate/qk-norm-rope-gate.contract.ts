import type { BoundedOutput, Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { bitsOf } from '../shared/float-bits.ts';
import { replaySquares } from '../shared/norm-bounds.ts';
import { angleTable, turnedHeadBounds } from '../shared/turned-bounds.ts';
import { qkNormRopeGateReference } from './qk-norm-rope-gate.reference.ts';
import { qkNormRopeGate, type QkNormRopeGateShape } from './qk-norm-rope-gate.ts';

/** What the device gets: float32 eps. */
const EPS = Math.fround(1e-6);

/** `padding`: elements between a row and the next, other for queries than for keys. */
const served = (name: string, rows: number, heads: number, kvHeads: number, headDim: number, rotary: number, context: number, padding = 0) =>
  ({
    name: `${name} ${rows}x${heads}/${kvHeads}x${headDim} rotating ${rotary}${padding > 0 ? ', rows apart' : ''}`,
    role: 'served',
    shape: {
      rows,
      heads,
      kvHeads,
      headDim,
      rotary,
      context,
      qStride: heads * 2 * headDim + padding,
      kStride: kvHeads * headDim + 2 * padding,
      eps: EPS,
    },
  }) satisfies ContractShape<QkNormRopeGateShape>;

interface Inputs {
  readonly qg: Float32Array;
  readonly kProj: Float32Array;
  readonly weight: Float32Array;
  readonly table: Float32Array;
  readonly position: Uint32Array;
}

/** The heads of `q` or of `k` in order: their row and where they start in what they are made from. */
function headsOf(shape: QkNormRopeGateShape, of: 'q' | 'k'): { row: number; start: number }[] {
  const { rows, heads, kvHeads, headDim, qStride, kStride } = shape;
  const [count, stride, width] = of === 'q' ? [heads, qStride, 2 * headDim] : [kvHeads, kStride, headDim];
  return Array.from({ length: rows * count }, (_, i) => {
    const row = Math.floor(i / count);
    return { row, start: row * stride + (i % count) * width };
  });
}

interface FillParts {
  readonly position: (shape: QkNormRopeGateShape) => number;
  readonly head: (random: Random, index: number, x: Float32Array) => void;
  readonly gate: (random: Random) => number;
}

/** Between rows lie 1e30, whose square is infinite, so that nothing may read them; weights spread over four decades. */
function fill(name: string, kind: Fill['kind'], { position, head, gate }: FillParts): Fill<QkNormRopeGateShape> {
  return {
    name,
    kind,
    make: (shape, random) => {
      const { rows, headDim, qStride, kStride } = shape;
      const qg = new Float32Array(rows * qStride).fill(1e30);
      const kProj = new Float32Array(rows * kStride).fill(1e30);
      for (const [index, { start }] of headsOf(shape, 'q').entries()) {
        head(random, index, qg.subarray(start, start + headDim));
        for (let i = 0; i < headDim; i++) qg[start + headDim + i] = gate(random);
      }
      for (const [index, { start }] of headsOf(shape, 'k').entries()) head(random, index + 1, kProj.subarray(start, start + headDim));
      const weight = Float32Array.from({ length: 2 * headDim }, () => random.decades(1e-2, 1e2));
      return { qg, kProj, weight, table: angleTable(shape.context, shape.rotary), position: Uint32Array.of(Math.max(0, position(shape))) };
    },
  };
}

const each = (number: (random: Random) => number) => (random: Random, _: number, x: Float32Array) => {
  for (let i = 0; i < x.length; i++) x[i] = number(random);
};

const fills: readonly Fill<QkNormRopeGateShape>[] = [
  fill('spread, at the end', 'spread', {
    position: ({ rows, context }) => context - rows,
    head: (random, _, x) => {
      const size = 10 ** random.uniform(-5, 3);
      for (let i = 0; i < x.length; i++) x[i] = size * random.decades(1e-3, 1);
    },
    gate: (random) => random.decades(1e25, 1e30),
  }),
  fill('stress', 'stress', { position: () => 0, head: each((random) => random.uniform(500, 1000)), gate: (random) => random.uniform(-1, 1) }),
  fill('classes, past the table', 'classes', {
    position: ({ rows, context }) => context - Math.ceil(rows / 2),
    head: (random, index, x) => {
      for (let i = 0; i < x.length; i++) x[i] = random.decades(1e-2, 1e2);
      const kind = index % 6;
      if (kind < 3) x[random.integer(0, x.length - 1)] = [NaN, Infinity, -Infinity][kind]!;
      else if (kind < 5) for (let i = 0; i < x.length; i++) x[i] = kind === 3 ? (i % 2 ? -0 : 0) : random.decades(1e-44, 1e-39);
    },
    gate: (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, -1e-45, 1]),
  }),
];

/** Expected `q` or `k`: the norm's bounds carried through the rotation. */
function expectHeads(shape: QkNormRopeGateShape, inputs: Inputs, of: 'q' | 'k', values: Float64Array): BoundedOutput {
  const { headDim, rotary, context } = shape;
  const x = of === 'q' ? inputs.qg : inputs.kProj;
  const weight = inputs.weight.subarray(of === 'q' ? 0 : headDim, of === 'q' ? headDim : 2 * headDim);
  const spec = new Float64Array(values.length);
  const depth = new Float64Array(values.length);
  for (const [index, { row, start }] of headsOf(shape, of).entries()) {
    const at = inputs.position[0]! + row;
    if (at >= context) continue;
    const bounds = turnedHeadBounds(x.subarray(start, start + headDim), weight, EPS, inputs.table.subarray(at * rotary, (at + 1) * rotary));
    spec.set(bounds.spec, index * headDim);
    depth.set(bounds.depth, index * headDim);
  }
  return { kind: 'bounded', values, spec, depth };
}

export const contract: Contract<QkNormRopeGateShape> = {
  kernel: qkNormRopeGate,
  meaning:
    'With n = x·w / sqrt(mean over the head of x² + eps), x a query head at qg[r·qStride + h·2·headDim] or a key head at kProj[r·kStride + h·headDim] and w the first or second headDim weights, ' +
    'and c, s the cosine and sine i of position + r in the table (cosines first): q, k [r, h, i] = n[i]·c − n[i + rotary/2]·s and [r, h, i + rotary/2] = n[i + rotary/2]·c + n[i]·s for i < rotary/2, ' +
    'n[i] from rotary on. gate[r, h, i] = qg[r·qStride + h·2·headDim + headDim + i], bit for bit, at every position. Queries and keys of a row whose position is past the table are +0 throughout. ' +
    'A head with a NaN is NaN; a head with an infinity is 0, and NaN at the infinity and at its partner. What lies between rows is never read.',
  bounds:
    'The norm as shared/norm-bounds.ts derives it: E for each element of n. The rotation carries it over and adds two products and one sum, fused or not: ' +
    '|err| ≤ |c|·E + |s|·E′ + γ_2·((|n| + E)·|c| + (|n′| + E′)·|s|) with u = 2⁻²³ (spec) or 2⁻²⁴ (depth), and 2⁻¹²⁶·(|n| + |n′| + |c| + |s| + 3) for what a driver may flush. ' +
    'Gates and rows past the table: no error.',
  families: { head: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 2, 2, 1),
    served('awkward', 2, 3, 1, 7, 4, 5, 3),
    served('awkward', 3, 5, 2, 160, 96, 7, 11),
    served('one over', 2, 2, 1, 65, 64, 3, 1),
    served('all rotated', 2, 1, 1, 130, 130, 4),
    served('tiny', 1, 4, 2, 64, 16, 40),
    served('tiny prefill', 17, 4, 2, 64, 16, 40),
    served('2B', 1, 8, 2, 256, 64, 30),
    served('2B prefill', 5, 8, 2, 256, 64, 30),
    { ...served('too wide a rotation', 1, 1, 1, 514, 514, 1), role: 'edge' },
  ],
  fills,
  absent: { exact: 'inverseSqrt may be off by 2 ULP for any argument, so no fill has an exact result in q and k' },
  expect: (shape, contents) => {
    const inputs = contents as unknown as Inputs;
    const { q, k } = qkNormRopeGateReference(shape, inputs);
    const gates = Float32Array.from(headsOf(shape, 'q').flatMap(({ start }) => [...inputs.qg.subarray(start + shape.headDim, start + 2 * shape.headDim)]));
    return { q: expectHeads(shape, inputs, 'q', q), k: expectHeads(shape, inputs, 'k', k), gate: { kind: 'exact', bits: bitsOf(gates) } };
  },
  sums: [
    { name: 'query squares 160', shape: served('', 2, 5, 2, 160, 96, 7, 11).shape, fill: 'stress', output: 'q', family: 'head', replay: replay('q') },
    { name: 'key squares 256', shape: served('', 2, 8, 2, 256, 64, 30).shape, fill: 'stress', output: 'k', family: 'head', replay: replay('k') },
  ],
};

function replay(of: 'q' | 'k') {
  return (shape: QkNormRopeGateShape, contents: Contents, round: (value: number) => number): Float64Array => {
    const inputs = contents as unknown as Inputs;
    const { headDim, rotary } = shape;
    const half = rotary / 2;
    const x = of === 'q' ? inputs.qg : inputs.kProj;
    return Float64Array.from(
      headsOf(shape, of).flatMap(({ row, start }) => {
        const scale = 1 / Math.sqrt(replaySquares(x, start, headDim, round) / headDim + EPS);
        const normed = Array.from({ length: headDim }, (_, i) => x[start + i]! * scale * inputs.weight[(of === 'q' ? 0 : headDim) + i]!);
        const angle = (inputs.position[0]! + row) * rotary;
        return normed.map((value, i) => {
          if (i >= rotary) return value;
          const cos = inputs.table[angle + (i % half)]!;
          const sin = inputs.table[angle + half + (i % half)]!;
          return i < half ? value * cos - normed[i + half]! * sin : value * cos + normed[i - half]! * sin;
        });
      }),
    );
  };
}
