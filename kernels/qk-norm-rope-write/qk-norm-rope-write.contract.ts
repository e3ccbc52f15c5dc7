import type { BoundedOutput, Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { bitsOf } from '../shared/float-bits.ts';
import { replaySquares } from '../shared/norm-bounds.ts';
import { angleTable, turnedHeadBounds } from '../shared/turned-bounds.ts';
import { qkNormRopeWriteReference } from './qk-norm-rope-write.reference.ts';
import { qkNormRopeWrite, type QkNormRopeWriteShape } from './qk-norm-rope-write.ts';

/** What the device gets: float32 eps. */
const EPS = Math.fround(1e-6);

/** `gap`: elements that nobody reads before keys and before values. */
const served = (name: string, heads: number, kvHeads: number, headDim: number, rotary: number, context: number, gap = 0) =>
  ({
    name: `${name} ${heads}/${kvHeads}x${headDim} rotating ${rotary} in ${context}`,
    role: 'served',
    shape: {
      heads,
      kvHeads,
      headDim,
      rotary,
      context,
      kOffset: heads * 2 * headDim + gap,
      vOffset: heads * 2 * headDim + kvHeads * headDim + 2 * gap,
      width: heads * 2 * headDim + 2 * kvHeads * headDim + 2 * gap,
      eps: EPS,
    },
  }) satisfies ContractShape<QkNormRopeWriteShape>;

interface Inputs {
  readonly x: Float32Array;
  readonly weight: Float32Array;
  readonly table: Float32Array;
  readonly position: Uint32Array;
}

interface FillParts {
  readonly position: (context: number) => number;
  readonly head: (random: Random, index: number, x: Float32Array) => void;
  readonly value: (random: Random) => number;
}

/** Gates and gaps hold 1e30, whose square is infinite, so that nothing may read them; weights spread over four decades. */
function fill(name: string, kind: Fill['kind'], { position, head, value }: FillParts): Fill<QkNormRopeWriteShape> {
  return {
    name,
    kind,
    make: (shape, random) => {
      const { heads, kvHeads, headDim, rotary, context, width, kOffset, vOffset } = shape;
      const x = new Float32Array(width).fill(1e30);
      for (let h = 0; h < heads; h++) head(random, h, x.subarray(h * 2 * headDim, h * 2 * headDim + headDim));
      for (let h = 0; h < kvHeads; h++) head(random, h + 1, x.subarray(kOffset + h * headDim, kOffset + (h + 1) * headDim));
      for (let i = 0; i < kvHeads * headDim; i++) x[vOffset + i] = value(random);
      const weight = Float32Array.from({ length: 2 * headDim }, () => random.decades(1e-2, 1e2));
      return { x, weight, table: angleTable(context, rotary), position: Uint32Array.of(position(context)) };
    },
  };
}

const each = (number: (random: Random) => number) => (random: Random, _: number, x: Float32Array) => {
  for (let i = 0; i < x.length; i++) x[i] = number(random);
};

const spreadHead = (random: Random, _: number, x: Float32Array): void => {
  const size = 10 ** random.uniform(-5, 3);
  for (let i = 0; i < x.length; i++) x[i] = size * random.decades(1e-3, 1);
};

const fills: readonly Fill<QkNormRopeWriteShape>[] = [
  fill('spread, at the end', 'spread', { position: (context) => context - 1, head: spreadHead, value: (random) => random.decades(1e-30, 1e30) }),
  fill('spread, past the context', 'spread', { position: (context) => context, head: spreadHead, value: (random) => random.decades(1e-3, 1) }),
  fill('stress', 'stress', { position: () => 0, head: each((random) => random.uniform(500, 1000)), value: (random) => random.uniform(-1, 1) }),
  fill('classes', 'classes', {
    position: (context) => Math.floor(context / 2),
    head: (random, index, x) => {
      for (let i = 0; i < x.length; i++) x[i] = random.decades(1e-2, 1e2);
      const kind = index % 6;
      if (kind < 3) x[random.integer(0, x.length - 1)] = [NaN, Infinity, -Infinity][kind]!;
      else if (kind < 5) for (let i = 0; i < x.length; i++) x[i] = kind === 3 ? (i % 2 ? -0 : 0) : random.decades(1e-44, 1e-39);
    },
    value: (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, -1e-45, 1]),
  }),
];

/** Bounds of `count` heads that lie `stride` apart from `start` on, written from `destination` on. */
function expectHeads(
  shape: QkNormRopeWriteShape,
  { x, weight, table, position }: Inputs,
  heads: { start: number; stride: number; count: number; weights: number; destination: number },
  values: Float64Array,
): { values: Float64Array; spec: Float64Array; depth: Float64Array } {
  const { headDim, rotary, context } = shape;
  const at = position[0]!;
  const spec = new Float64Array(values.length);
  const depth = new Float64Array(values.length);
  const made = at < context ? heads.count : 0;
  for (let h = 0; h < made; h++) {
    const head = x.subarray(heads.start + h * heads.stride, heads.start + h * heads.stride + headDim);
    const bounds = turnedHeadBounds(head, weight.subarray(heads.weights, heads.weights + headDim), EPS, table.subarray(at * rotary, (at + 1) * rotary));
    spec.set(bounds.spec, heads.destination + h * headDim);
    depth.set(bounds.depth, heads.destination + h * headDim);
  }
  return { values, spec, depth };
}

export const contract: Contract<QkNormRopeWriteShape> = {
  kernel: qkNormRopeWrite,
  meaning:
    'With n = x·w / sqrt(mean over the head of x² + eps), x a query head at x[h·2·headDim] or a key head at x[kOffset + h·headDim], w the first or second headDim weights, ' +
    'and c, s the cosine and sine i of the position in the table (cosines first): the turned head is n[i]·c − n[i + rotary/2]·s and n[i + rotary/2]·c + n[i]·s for i < rotary/2, ' +
    'n[i] from rotary on. q holds the turned query heads; row `position` of kCache the turned key heads, and of vCache the values at x[vOffset], bit for bit. ' +
    'A position past the context gives +0 in q and leaves the caches alone. A head with a NaN is NaN; one with an infinity is 0, and NaN at the infinity and its partner. Gates are never read.',
  bounds:
    'Norm and rotation as shared/turned-bounds.ts derives them, with u = 2⁻²³ (spec) or 2⁻²⁴ and the shader’s depth (depth). Values, rows of other positions and queries past the context: no error.',
  families: { head: ['default'] },
  shapes: [
    served('smallest', 1, 1, 2, 2, 1),
    served('awkward', 3, 1, 7, 4, 5, 3),
    served('awkward', 5, 2, 160, 96, 7, 11),
    served('one over', 2, 1, 65, 64, 3, 1),
    served('all rotated', 1, 1, 130, 130, 4),
    served('tiny', 4, 2, 64, 16, 40),
    served('2B', 8, 2, 256, 64, 30),
    { ...served('too wide a rotation', 1, 1, 514, 514, 1), role: 'edge' },
  ],
  fills,
  absent: { exact: 'inverseSqrt may be off by 2 ULP for any argument, so no fill has an exact result in q and k' },
  expect: (shape, contents) => {
    const inputs = contents as unknown as Inputs;
    const { heads, kvHeads, headDim, context, kOffset } = shape;
    const width = kvHeads * headDim;
    const empty = new Float64Array(context * width);
    const { q, kCache, vCache } = qkNormRopeWriteReference(shape, { ...inputs, kCache: empty, vCache: empty });
    const at = inputs.position[0]!;
    const kept = Uint8Array.from(empty, (_, i) => (Math.floor(i / width) === at ? 0 : 1));
    const bounded = (output: Omit<BoundedOutput, 'kind'>): BoundedOutput => ({ kind: 'bounded', ...output });
    return {
      q: bounded(expectHeads(shape, inputs, { start: 0, stride: 2 * headDim, count: heads, weights: 0, destination: 0 }, q)),
      kCache: bounded({
        ...expectHeads(shape, inputs, { start: kOffset, stride: headDim, count: kvHeads, weights: headDim, destination: at * width }, kCache),
        kept,
      }),
      vCache: { kind: 'exact', bits: bitsOf(Float32Array.from(vCache)), kept },
    };
  },
  sums: [{ name: 'query squares 256', shape: served('', 8, 2, 256, 64, 30).shape, fill: 'stress', output: 'q', family: 'head', replay }],
};

/** q with the squares added in another accumulator. The stress fill is at position 0, which turns by nothing. */
function replay({ heads, headDim }: QkNormRopeWriteShape, contents: Contents, round: (value: number) => number): Float64Array {
  const { x, weight } = contents as unknown as Inputs;
  const q = new Float64Array(heads * headDim);
  for (let h = 0; h < heads; h++) {
    const scale = 1 / Math.sqrt(replaySquares(x, h * 2 * headDim, headDim, round) / headDim + EPS);
    for (let i = 0; i < headDim; i++) q[h * headDim + i] = x[h * 2 * headDim + i]! * scale * weight[i]!;
  }
  return q;
}
