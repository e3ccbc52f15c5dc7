import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { expRelative, sigmoidRelative } from '../shared/sigmoid-bounds.ts';
import { CHUNK_KEYS } from '../sdpa-split/sdpa-split.ts';
import { sdpaMergeGateReference } from './sdpa-merge-gate.reference.ts';
import { sdpaMergeGate, type SdpaMergeGateShape } from './sdpa-merge-gate.ts';

interface Inputs {
  readonly sums: Float32Array;
  readonly stats: Float32Array;
  readonly qg: Float32Array;
  readonly position: Uint32Array;
}

const served = (name: string, heads: number, headDim: number, context: number, fills?: readonly string[]): ContractShape<SdpaMergeGateShape> => ({
  name: `${name} ${heads}x${headDim} in ${context}`,
  role: 'served',
  shape: { heads, headDim, context },
  ...(fills ? { fills } : {}),
});

interface FillParts {
  readonly largest: (random: Random) => number;
  readonly total: (random: Random) => number;
  readonly sum: (random: Random) => number;
  readonly gate: (random: Random) => number;
}

/** The last chunk, where there are several, holds no key yet: sums of 1e30 and a score of 100 wait there to be noticed. */
function fill(name: string, kind: Fill['kind'], parts: FillParts): Fill<SdpaMergeGateShape> {
  return {
    name,
    kind,
    make: ({ heads, headDim, context }, random) => {
      const chunks = Math.ceil(context / CHUNK_KEYS);
      const live = Math.max(1, chunks - 1);
      const isLive = (row: number): boolean => row % chunks < live;
      return {
        sums: Float32Array.from({ length: heads * chunks * headDim }, (_, i) => (isLive(Math.floor(i / headDim)) ? parts.sum(random) : 1e30)),
        stats: Float32Array.from({ length: heads * chunks * 2 }, (_, i) =>
          isLive(Math.floor(i / 2)) ? (i % 2 === 0 ? parts.largest(random) : parts.total(random)) : 100,
        ),
        qg: Float32Array.from({ length: heads * 2 * headDim }, (_, i) => (i % (2 * headDim) < headDim ? 1e30 : parts.gate(random))),
        position: Uint32Array.of(Math.min(live * CHUNK_KEYS, context) - 1),
      };
    },
  };
}

const fills: readonly Fill<SdpaMergeGateShape>[] = [
  fill('spread', 'spread', {
    largest: (random) => random.uniform(-10, 10),
    total: (random) => random.uniform(1, 32),
    sum: (random) => random.decades(1e-3, 1e2),
    gate: (random) => random.decades(1e-3, 30),
  }),
  fill('far scores', 'spread', {
    largest: (random) => random.uniform(-2000, 2000),
    total: (random) => random.uniform(1, 32),
    sum: (random) => random.decades(1e-3, 1e2),
    gate: (random) => random.decades(50, 3e38),
  }),
  // All chunks weigh the same: from nine of them on the numerator passes 65504.
  fill('stress', 'stress', { largest: () => 0, total: () => 1, sum: (random) => random.uniform(8000, 12000), gate: () => 20 }),
  fill('classes', 'classes', {
    largest: (random) => random.uniform(-1, 1),
    total: (random) => random.uniform(1, 32),
    sum: (random) => (random.integer(0, 9) === 0 ? random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40]) : random.uniform(-1, 1)),
    gate: (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, 2, -3]),
  }),
];

export const contract: Contract<SdpaMergeGateShape> = {
  kernel: sdpaMergeGate,
  meaning:
    'With e_c = exp(m_c − max m) over the chunks c of 32 positions that hold a key up to `position`, and [m_c, l_c] their stats: out[h, i] = Σ_c e_c·sums[h, c, i] / Σ_c e_c·l_c · sigmoid(gate), ' +
    'gate = qg[h·2·headDim + headDim + i], in float32. Other chunks are never read. A NaN or an infinity in a sum reaches its own element; a NaN in l makes its head NaN.',
  bounds:
    'e_c is relatively off by δ_c = d·u + exp’s 3 + 2d ULP with d = max m − m_c (the difference rounds once). A numerator meets a product and at most chunks additions: off by E = Σ e_c|sums_c|(e^{δ_c} − 1 + γ_{chunks+1}); ' +
    'the denominator T, all positive, by D = Σ e_c·l_c(e^{δ_c} − 1 + γ_{chunks+1}). The quotient is off by (E + |N/T|·D)/(T − D) and 2.5 ULP, the sigmoid as shared/sigmoid-bounds.ts has it, and their product rounds once. ' +
    'Spec: u = 2⁻²³; depth: u = 2⁻²⁴ (the shader’s order is serial). Flushed weights and results add 2⁻¹²⁶·(2Σ(|sums_c| + 1)/T + 2).',
  families: { element: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1),
    served('awkward', 5, 65, 75),
    served('awkward', 3, 7, 33),
    served('four chunks', 3, 7, 160),
    // Their weights pass through workgroup memory 64 at a time.
    served('70 chunks', 2, 5, 2265, ['spread']),
    served('tiny', 4, 64, 40),
    served('2B', 8, 256, 320),
    served('long', 2, 64, 7168, ['spread', 'stress']),
  ],
  fills,
  absent: { exact: 'exp may be off by 3 ULP for any argument, 0 included, and a quotient by 2.5' },
  expect: (shape, contents) => {
    const inputs = contents as unknown as Inputs;
    const { out } = sdpaMergeGateReference(shape, inputs);
    return { out: { kind: 'bounded', values: out, spec: bounds(shape, inputs, out, U_SPEC), depth: bounds(shape, inputs, out, U_NEAREST) } };
  },
  sums: [{ name: 'sums of chunks', shape: { heads: 2, headDim: 64, context: 640 }, fill: 'stress', output: 'out', family: 'element', replay }],
};

/** Chunks that hold a key, and how many there are in all. */
function chunksOf({ context }: SdpaMergeGateShape, { position }: Inputs): { live: number; chunks: number } {
  return { live: Math.ceil(Math.min(position[0]! + 1, context) / CHUNK_KEYS), chunks: Math.ceil(context / CHUNK_KEYS) };
}

function bounds(shape: SdpaMergeGateShape, inputs: Inputs, out: Float64Array, u: number): Float64Array {
  const { heads, headDim } = shape;
  const { sums, stats, qg } = inputs;
  const { live, chunks } = chunksOf(shape, inputs);
  const bound = new Float64Array(out.length);
  for (let head = 0; head < heads; head++) {
    const at = Array.from({ length: live }, (_, c) => head * chunks + c);
    const largest = at.reduce((most, row) => Math.max(most, stats[row * 2]!), -Infinity);
    const parts = at.map((row) => {
      const distance = largest - stats[row * 2]!;
      const weight = Math.exp(-distance);
      return { row, weight, off: Math.expm1(distance * u + expRelative(Math.min(distance, 200))) + gamma(chunks + 1, u) };
    });
    const total = parts.reduce((sum, { row, weight }) => sum + weight * stats[row * 2 + 1]!, 0);
    const totalOff = parts.reduce((sum, { row, weight, off }) => sum + weight * stats[row * 2 + 1]! * off, 0);
    for (let i = 0; i < headDim; i++) {
      let sum = 0;
      let off = 0;
      let sizes = 0;
      for (const part of parts) {
        const value = sums[part.row * headDim + i]!;
        sum += part.weight * value;
        off += part.weight * Math.abs(value) * part.off;
        sizes += Math.abs(value) + 1;
      }
      const gate = qg[head * 2 * headDim + headDim + i]!;
      const size = Math.abs(out[head * headDim + i]!);
      const open = 1 / (1 + Math.exp(-gate));
      const quotient = (off + Math.abs(sum / total) * totalOff) / (total - totalOff);
      const made =
        quotient * open * 1.01 + size * (2.5 * U_SPEC + sigmoidRelative(gate, u) + 2 * u) + FLUSH * ((2 * sizes) / total + Math.abs(sum / total) + 2);
      bound[head * headDim + i] = Number.isFinite(made) ? made : 0;
    }
  }
  return bound;
}

/** `out` with the numerator's additions passed through `round`; all weights are 1, and the gate is open but for e^-20. */
function replay(shape: SdpaMergeGateShape, contents: Contents, round: (value: number) => number): Float64Array {
  const inputs = contents as unknown as Inputs;
  const { heads, headDim } = shape;
  const { live, chunks } = chunksOf(shape, inputs);
  return Float64Array.from({ length: heads * headDim }, (_, at) => {
    const [head, i] = [Math.floor(at / headDim), at % headDim];
    let sum = 0;
    for (let c = 0; c < live; c++) sum = round(sum + inputs.sums[(head * chunks + c) * headDim + i]!);
    return sum / live / (1 + Math.exp(-20));
  });
}
