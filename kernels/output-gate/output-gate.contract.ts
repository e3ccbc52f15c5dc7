import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import { FLUSH, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { sigmoidRelative } from '../shared/sigmoid-bounds.ts';
import { outputGateReference } from './output-gate.reference.ts';
import { outputGate, type OutputGateShape } from './output-gate.ts';

/** q_proj's layout: [query | gate] within each head. */
const served = (name: string, rows: number, heads: number, headDim: number): ContractShape<OutputGateShape> => ({
  name: `${name} ${rows}x${heads}x${headDim}`,
  role: 'served',
  shape: { rows, heads, headDim, rowStride: heads * 2 * headDim, headStride: 2 * headDim, gateOffset: headDim },
});

function fill(name: string, kind: Fill['kind'], number: (random: Parameters<Fill['make']>[1]) => number): Fill<OutputGateShape> {
  return {
    name,
    kind,
    make: ({ rows, heads, headDim, rowStride }, random) => ({
      attn: Float32Array.from({ length: rows * heads * headDim }, () => number(random)),
      qg: Float32Array.from({ length: rows * rowStride }, () => number(random)),
    }),
  };
}

export const contract: Contract<OutputGateShape> = {
  kernel: outputGate,
  meaning:
    'out[r, h, i] = attn[r, h, i]·sigmoid(gate) with gate = qg[r·rowStride + h·headStride + gateOffset + i] in float32. ' +
    'Large gates saturate to 0 and 1 and never overflow; a NaN of either gives NaN, an infinite gate is 0 or 1.',
  bounds:
    'The sigmoid as shared/sigmoid-bounds.ts derives it (exp 3 + 2|x| ULP weighted by its share, one sum, a quotient of 2.5 ULP), one product: ' +
    '|err| ≤ |out|·(sigmoid + u) + 2⁻¹²⁶·(|attn| + 1) for exp, sigmoid and result that a driver may flush. Spec: u = 2⁻²³; depth: sum and product at 2⁻²⁴.',
  families: { element: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1),
    served('awkward', 3, 5, 160),
    served('awkward', 2, 3, 7),
    { name: 'gaps 2x3x5', role: 'served', shape: { rows: 2, heads: 3, headDim: 5, rowStride: 41, headStride: 13, gateOffset: 7 } },
    served('tiny', 1, 4, 64),
    served('tiny prefill', 17, 4, 64),
    served('2B', 1, 8, 256),
    served('2B prefill', 5, 8, 256),
  ],
  fills: [
    fill('spread', 'spread', (random) => random.decades(1e-3, 100)),
    fill('saturated', 'spread', (random) => random.decades(50, 3e38)),
    fill('classes', 'classes', (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, -1e-42, 2, -3])),
  ],
  absent: { exact: 'exp may be off by 3 ULP for any argument, 0 included', stress: 'nothing is summed' },
  expect: (shape, contents) => {
    const { attn, qg } = contents as { attn: Float32Array; qg: Float32Array };
    const { out } = outputGateReference(shape, { attn, qg });
    const bound = (u: number) =>
      out.map((value, i) => Math.abs(value) * (sigmoidRelative(gateOf(shape, contents, i), u) + u) + FLUSH * (Math.abs(attn[i]!) + 1));
    return { out: { kind: 'bounded', values: out, spec: bound(U_SPEC), depth: bound(U_NEAREST) } };
  },
  sums: { none: 'each element is its own product' },
};

function gateOf({ heads, headDim, rowStride, headStride, gateOffset }: OutputGateShape, contents: Contents, at: number): number {
  const head = Math.floor(at / headDim);
  return contents['qg']![Math.floor(head / heads) * rowStride + (head % heads) * headStride + gateOffset + (at % headDim)]!;
}
