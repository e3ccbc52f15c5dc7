import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { sigmoidRelative } from '../shared/sigmoid-bounds.ts';
import { siluMulReference } from './silu-mul.reference.ts';
import { siluMul, type SiluMulShape } from './silu-mul.ts';

const served = (name: string, rows: number, n: number, stride = n, upOffset = 0): ContractShape<SiluMulShape> => ({
  name: `${name} ${rows}x${n}${stride > n ? `, up at ${upOffset} of ${stride}` : ''}`,
  role: 'served',
  shape: { rows, n, stride, upOffset },
});

function fill(name: string, kind: Fill['kind'], gate: (random: Random) => number, up: (random: Random) => number): Fill<SiluMulShape> {
  return {
    name,
    kind,
    make: (shape, random): Contents => {
      const sizes = siluMul.sizes(shape);
      return {
        gate: Float32Array.from({ length: sizes['gate']! }, () => gate(random)),
        up: Float32Array.from({ length: sizes['up']! }, () => up(random)),
      };
    },
  };
}

// Apart, since a driver that flushes a subnormal to 0 makes NaN of its product with an infinity, and may.
const notFinite = (random: Random): number => random.pick([NaN, Infinity, -Infinity, 0, -0, 2, -3]);
const subnormal = (random: Random): number => random.pick([0, -0, 1e-40, -1e-42, 1e-38, 2, -3]);

export const contract: Contract<SiluMulShape> = {
  kernel: siluMul,
  meaning:
    'out[i] = silu(gate[i])·up[i] in float32 with silu(g) = g·sigmoid(g). Large gates saturate and never overflow: silu(g) is g above and 0 below; ' +
    'a gate of −inf gives NaN (−inf·0), as the formula does.',
  bounds:
    'The sigmoid as shared/sigmoid-bounds.ts derives it (exp 3 + 2|g| ULP weighted by its share, one sum, a quotient of 2.5 ULP), two products: ' +
    '|err| ≤ |out|·(sigmoid + 2u)·(1 + 2⁻¹²) + 2⁻¹²⁶·(|g·up| + 2|up| + |silu| + 1) for exp or sigmoid, gate and silu, up, and a result that a driver may flush. ' +
    'Spec: u = 2⁻²³; depth: sum and products at u = 2⁻²⁴.',
  families: { element: ['element'] },
  shapes: [
    served('smallest', 1, 1),
    served('awkward', 1, 63),
    served('awkward', 3, 257),
    served('within wider rows', 3, 321, 700, 350),
    served('tiny', 1, 768),
    served('tiny prefill', 17, 768, 1536, 768),
    served('2B', 1, 6144),
    served('2B prefill', 3, 6144, 12_288, 6144),
    // One group more than a grid's row holds.
    { ...served('folded grid', 4_097, 3), fills: ['spread'] },
  ],
  fills: [
    fill(
      'spread',
      'spread',
      (random) => random.decades(1e-3, 100),
      (random) => random.decades(1e-3, 1e3),
    ),
    fill(
      'saturated',
      'spread',
      (random) => random.decades(50, 3e38),
      (random) => random.decades(1e-3, 1e-1),
    ),
    fill('classes', 'classes', notFinite, notFinite),
    fill('subnormals', 'classes', subnormal, subnormal),
  ],
  absent: { exact: 'exp may be off by 3 ULP for any argument, 0 included', stress: 'nothing is summed' },
  expect: (shape, contents) => {
    const { gate, up } = contents as { gate: Float32Array; up: Float32Array };
    const values = siluMulReference(shape, { gate, up });
    const bound = (u: number): Float64Array =>
      values.map((value, i) => {
        const at = Math.floor(i / shape.n) * shape.stride + (i % shape.n);
        const g = Math.abs(gate[at]!);
        const size = Math.abs(up[at + shape.upOffset]!);
        return Math.abs(value) * (sigmoidRelative(gate[at]!, u) + 2 * u) * (1 + 2 ** -12) + FLUSH * (g * size + 2 * size + g + 1);
      });
    return { out: { kind: 'bounded', values, spec: bound(U_SPEC), depth: bound(U_NEAREST) } };
  },
  sums: { none: 'each element is its own product' },
};
