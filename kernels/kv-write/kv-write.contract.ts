import type { Contract, ContractShape, ExactOutput, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { kvWriteReference } from './kv-write.reference.ts';
import { kvWrite, type KvWriteShape } from './kv-write.ts';

const served = (name: string, rows: number, kvHeads: number, headDim: number, context: number, around = 0): ContractShape<KvWriteShape> => ({
  name: `${name} ${rows}x${kvHeads}x${headDim} in ${context}${around > 0 ? `, ${around} before and after` : ''}`,
  role: 'served',
  shape: { rows, kvHeads, headDim, context, vStride: kvHeads * headDim + 2 * around, vOffset: around },
});

/** A fill that writes rows at `position`; the caches are left as the launch finds them. */
function fill(name: string, kind: Fill['kind'], position: (shape: KvWriteShape) => number, number: (random: Random) => number): Fill<KvWriteShape> {
  return {
    name,
    kind,
    make: (shape, random) => {
      const array = (width: number) => Float32Array.from({ length: shape.rows * width }, () => number(random));
      return { k: array(shape.kvHeads * shape.headDim), v: array(shape.vStride), position: Uint32Array.of(Math.max(0, position(shape))) };
    },
  };
}

export const contract: Contract<KvWriteShape> = {
  kernel: kvWrite,
  meaning:
    'kCache[position + r] = k[r] and vCache[position + r] = v[r], bit for bit, for every row r with position + r < context; later rows are dropped. ' +
    'Nothing else in the caches changes.',
  bounds: 'Copies: every bit is due, and every other word stays.',
  families: { copy: ['default'] },
  shapes: [
    served('smallest', 1, 1, 1, 1),
    served('awkward', 3, 3, 5, 7),
    served('awkward', 2, 1, 160, 3),
    served('within wider rows', 3, 2, 5, 7, 9),
    served('tiny', 1, 2, 64, 40),
    served('tiny prefill', 17, 2, 64, 40),
    served('2B', 1, 2, 256, 9),
    served('2B prefill', 6, 2, 256, 9),
  ],
  fills: [
    fill(
      'spread, at the end',
      'spread',
      ({ rows, context }) => context - rows,
      (random) => random.decades(1e-30, 1e30),
    ),
    fill(
      'exact, at the start',
      'exact',
      () => 0,
      (random) => random.integer(1, 1000) / 8,
    ),
    fill(
      'classes, past the context',
      'classes',
      ({ rows, context }) => context - Math.ceil(rows / 2),
      (random) => random.pick([NaN, Infinity, -Infinity, 0, -0, 1e-40, -1e-45, 1]),
    ),
  ],
  absent: { stress: 'nothing is added' },
  expect: (shape, contents) => {
    const { k, v, position } = contents as { k: Float32Array; v: Float32Array; position: Uint32Array };
    const width = shape.kvHeads * shape.headDim;
    const empty = new Float64Array(shape.context * width);
    const { kCache, vCache } = kvWriteReference(shape, { k, v, position, kCache: empty, vCache: empty });
    const kept = Uint8Array.from({ length: empty.length }, (_, i) => {
      const row = Math.floor(i / width) - position[0]!;
      return row >= 0 && row < shape.rows ? 0 : 1;
    });
    const exact = (values: Float64Array): ExactOutput => ({ kind: 'exact', bits: new Uint32Array(Float32Array.from(values).buffer), kept });
    return { kCache: exact(kCache), vCache: exact(vCache) };
  },
  sums: { none: 'nothing is added' },
};
