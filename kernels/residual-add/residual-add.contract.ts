import type { Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { residualAddReference } from './residual-add.reference.ts';
import { residualAdd, type ResidualAddShape } from './residual-add.ts';

const served = (name: string, count: number, fills?: readonly string[]): ContractShape<ResidualAddShape> => ({
  name: `${name} ${count}`,
  role: 'served',
  shape: { count },
  ...(fills ? { fills } : {}),
});

function fill(kind: Fill['kind'], number: (random: Random) => number): Fill<ResidualAddShape> {
  return {
    name: kind,
    kind,
    make: ({ count }, random) => ({
      a: Float32Array.from({ length: count }, () => number(random)),
      b: Float32Array.from({ length: count }, () => number(random)),
    }),
  };
}

export const contract: Contract<ResidualAddShape> = {
  kernel: residualAdd,
  meaning: 'out[i] = a[i] + b[i] in float32; infinities of opposite sign give NaN.',
  bounds: 'One rounding: |err| ≤ u·|out| with u = 2⁻²³ (spec) or 2⁻²⁴ (depth), plus 3·2⁻¹²⁶ for operands and a result that a driver may flush.',
  families: { element: ['element'] },
  shapes: [
    served('smallest', 1),
    served('awkward', 63),
    served('awkward', 65),
    served('tiny', 256),
    served('tiny prefill', 17 * 256),
    served('2B', 2048),
    served('2B prefill', 9 * 2048),
    // One group more than a grid's row holds.
    served('folded grid', 4_097 * 256 - 3, ['exact']),
  ],
  fills: [
    fill('spread', (random) => random.decades(1e-6, 1e6)),
    fill('exact', (random) => random.integer(-4096, 4096) / 64),
    fill('classes', (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, -1e-42, 2, -3])),
  ],
  absent: { stress: 'a sum of two has no accumulator' },
  expect: (_, { a, b }) => {
    const values = residualAddReference(a as Float32Array, b as Float32Array);
    const bound = (u: number): Float64Array => values.map((value) => u * Math.abs(value) + 3 * FLUSH);
    return { out: { kind: 'bounded', values, spec: bound(U_SPEC), depth: bound(U_NEAREST) } };
  },
  sums: { none: 'a sum of two has no accumulator' },
};
