import type { Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { ropeReference } from './rope.reference.ts';
import { rope, type RopeShape } from './rope.ts';

const served = (name: string, rows: number, heads: number, headDim: number, rotary: number, context: number): ContractShape<RopeShape> => ({
  name: `${name} ${rows}x${heads}x${headDim} rotating ${rotary}`,
  role: 'served',
  shape: { rows, heads, headDim, rotary, context },
});

/** The table that the engine computes: theta 1e7, float64, then float32. */
function angles({ context, rotary }: RopeShape): Float32Array {
  const half = rotary / 2;
  return Float32Array.from({ length: context * rotary }, (_, i) => {
    const angle = Math.floor(i / rotary) * 1e7 ** -((i % half) / half);
    return i % rotary < half ? Math.cos(angle) : Math.sin(angle);
  });
}

function fill(
  name: string,
  kind: Fill['kind'],
  position: (shape: RopeShape) => number,
  table: (shape: RopeShape, random: Random) => Float32Array,
  number: (random: Random) => number,
): Fill<RopeShape> {
  return {
    name,
    kind,
    make: (shape, random) => ({
      x: Float32Array.from({ length: shape.rows * shape.heads * shape.headDim }, () => number(random)),
      table: table(shape, random),
      position: Uint32Array.of(Math.max(0, position(shape))),
    }),
  };
}

export const contract: Contract<RopeShape> = {
  kernel: rope,
  meaning:
    'With c and s the cosine and sine i of position + r in the table (cosines first, then sines): out[i] = x[i]·c − x[i + rotary/2]·s and out[i + rotary/2] = x[i + rotary/2]·c + x[i]·s ' +
    'for i < rotary/2; every element from rotary on is copied bit for bit. A row whose position is past the table is +0 throughout.',
  bounds:
    'Two products and one sum, fused or not: |err| ≤ γ_2·(|x·c| + |x′·s|) with u = 2⁻²³ (spec) or 2⁻²⁴ (depth), and 2⁻¹²⁶·(|x| + |x′| + |c| + |s| + 3) for operands and results that a driver may flush. ' +
    'Copies and rows past the table: no error.',
  families: { element: ['default'] },
  shapes: [
    served('smallest', 1, 1, 2, 2, 1),
    served('awkward', 3, 5, 160, 96, 7),
    served('awkward', 2, 3, 7, 4, 5),
    served('tiny q', 1, 4, 64, 16, 40),
    served('tiny q prefill', 17, 4, 64, 16, 40),
    served('tiny k prefill', 17, 2, 64, 16, 40),
    served('2B q', 1, 8, 256, 64, 30),
    served('2B q prefill', 5, 8, 256, 64, 30),
    served('2B k', 1, 2, 256, 64, 30),
  ],
  fills: [
    fill(
      'spread, at the end',
      'spread',
      ({ rows, context }) => context - rows,
      angles,
      (random) => random.decades(1e-3, 1e3),
    ),
    fill(
      'exact',
      'exact',
      () => 0,
      // Neither x nor the table is ever 0 here, since WGSL lets a driver ignore a zero's sign.
      ({ context, rotary }, random) => Float32Array.from({ length: context * rotary }, () => (2 * random.integer(-4, 3) + 1) / 8),
      (random) => (2 * random.integer(-64, 63) + 1) / 4,
    ),
    fill(
      'classes, past the table',
      'classes',
      ({ rows, context }) => context - Math.ceil(rows / 2),
      angles,
      (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, -1e-42, 1, -2]),
    ),
  ],
  absent: { stress: 'a sum of two products has no accumulator to narrow' },
  expect: (shape, contents) => {
    const { x, table, position } = contents as { x: Float32Array; table: Float32Array; position: Uint32Array };
    const { heads, headDim, rotary, context } = shape;
    const { out } = ropeReference(shape, { x, table, position });
    const half = rotary / 2;
    const bound = (u: number) =>
      out.map((_, i) => {
        const at = position[0]! + Math.floor(i / headDim / heads);
        const dimension = i % headDim;
        if (at >= context || dimension >= rotary) return 0;
        const low = dimension % half;
        const self = Math.abs(x[i]!);
        const other = Math.abs(x[dimension < half ? i + half : i - half]!);
        const cos = Math.abs(table[at * rotary + low]!);
        const sin = Math.abs(table[at * rotary + half + low]!);
        const total = gamma(2, u) * (self * cos + other * sin) + FLUSH * (self + other + cos + sin + 3);
        return Number.isFinite(total) ? total : 0;
      });
    return { out: { kind: 'bounded', values: out, spec: bound(U_SPEC), depth: bound(U_NEAREST) } };
  },
  sums: { none: 'a sum of two products has no accumulator to narrow' },
};
