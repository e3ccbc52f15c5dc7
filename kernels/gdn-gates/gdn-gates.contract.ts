import type { BoundedOutput, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { gateError } from '../shared/gate-bounds.ts';
import { sigmoidRelative } from '../shared/sigmoid-bounds.ts';
import { gdnGatesReference } from './gdn-gates.reference.ts';
import { gdnGates, type GdnGatesShape } from './gdn-gates.ts';

const served = (name: string, rows: number, vHeads: number, stride = vHeads, aOffset = 0, bOffset = 0): ContractShape<GdnGatesShape> => ({
  name: `${name} ${rows}x${vHeads}${stride > vHeads ? ` at ${aOffset} and ${bOffset} of ${stride}` : ''}`,
  role: 'served',
  shape: { rows, vHeads, stride, aOffset, bOffset },
});

function fill(name: string, kind: Fill['kind'], a: (random: Random) => number, aLog: (random: Random) => number): Fill<GdnGatesShape> {
  return {
    name,
    kind,
    make: ({ rows, vHeads, stride }, random) => ({
      a: Float32Array.from({ length: rows * stride }, () => a(random)),
      b: Float32Array.from({ length: rows * stride }, () => a(random)),
      aLog: Float32Array.from({ length: vHeads }, () => aLog(random)),
      dtBias: Float32Array.from({ length: vHeads }, () => random.uniform(-3, 1)),
    }),
  };
}

export const contract: Contract<GdnGatesShape> = {
  kernel: gdnGates,
  meaning:
    'g[r, h] = −exp(aLog[h])·softplus(a[r, h] + dtBias[h]), softplus(x) = log(1 + eˣ), and beta[r, h] = sigmoid(b[r, h]), in float32. The softplus keeps its relative precision for very ' +
    'negative x and is x for large x; nothing overflows. A NaN of a or b gives NaN in its place; a = −inf gives g = 0, a = +inf −inf.',
  bounds:
    'As gateError derives it: one rounding of x, exp 3 + 2|x| ULP, under 12 roundings in the series for log(1 + e), exp of aLog, two products; and the sigmoid of shared/sigmoid-bounds.ts. ' +
    'The series’ term s⁶/13 is at most 1.4e-7 of the sum (s ≤ 1/9), a little over one ULP: the 3 ULP that exp may be off hide it halved. ' +
    'Spec: u = 2⁻²³; depth: the plain sums and products at 2⁻²⁴. 2⁻¹²⁶·(4·exp(aLog) + 2) for e, z, the softplus and outputs that a driver may flush.',
  families: { element: ['default'] },
  shapes: [
    served('smallest', 1, 1),
    served('awkward', 7, 6),
    served('awkward', 13, 5),
    served('within wider rows', 5, 3, 19, 4, 11),
    served('tiny', 1, 4),
    served('tiny prefill', 64, 4),
    served('2B', 1, 16),
    served('2B prefill', 48, 16),
  ],
  fills: [
    fill(
      'spread',
      'spread',
      (random) => random.decades(1e-3, 80),
      (random) => random.uniform(-6, 3),
    ),
    fill(
      'far out',
      'spread',
      (random) => random.decades(20, 1e30),
      (random) => random.uniform(-6, 3),
    ),
    fill(
      'classes',
      'classes',
      (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, -1e-42, 1, -2]),
      (random) => random.uniform(-3, 1.5),
    ),
  ],
  absent: {
    exact: 'exp may be off by 3 ULP for any argument, 0 included',
    stress: 'the only sums have two terms, or are a series of eight that falls ninefold a term',
  },
  expect: (shape, contents) => {
    const { a, b, aLog, dtBias } = contents as Record<'a' | 'b' | 'aLog' | 'dtBias', Float32Array>;
    const { g, beta } = gdnGatesReference(shape, { a, b, aLog, dtBias });
    const finite = (value: number) => (Number.isFinite(value) ? value : 0);
    const gates = (u: number) =>
      g.map((_, i) => {
        const { head, base } = placeOf(shape, i);
        return finite(gateError(a[base + shape.aOffset]! + dtBias[head]!, aLog[head]!, u)) + FLUSH * (4 * Math.exp(aLog[head]!) + 2);
      });
    const writes = (u: number) => beta.map((value, i) => finite(value * sigmoidRelative(b[placeOf(shape, i).base + shape.bOffset]!, u)) + 2 * FLUSH);
    const bounded = (values: Float64Array, bound: (u: number) => Float64Array): BoundedOutput => ({
      kind: 'bounded',
      values,
      spec: bound(U_SPEC),
      depth: bound(U_NEAREST),
    });
    return { g: bounded(g, gates), beta: bounded(beta, writes) };
  },
  sums: { none: 'the only sums have two terms, or are a series of eight that falls ninefold a term' },
};

/** Of output i: its head, and where its row's head lies before aOffset or bOffset is added. */
function placeOf({ vHeads, stride }: GdnGatesShape, i: number): { head: number; base: number } {
  const head = i % vHeads;
  return { head, base: Math.floor(i / vHeads) * stride + head };
}
