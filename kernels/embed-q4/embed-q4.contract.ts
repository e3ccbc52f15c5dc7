import type { Contents, Contract, ContractShape, Fill } from '../contract.ts';
import type { Random } from '../random.ts';
import { FLUSH, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { packPairs } from '../shared/float-bits.ts';
import { exactTable, q4Table, spreadTable, type Q4Table } from '../shared/q4-fill.ts';
import { embedQ4Reference } from './embed-q4.reference.ts';
import { embedQ4, type EmbedQ4Shape } from './embed-q4.ts';

const shape = (name: string, rows: number, k: number, vocab: number, first = 0): ContractShape<EmbedQ4Shape> => ({
  name: `${name} ${rows}x${k} of ${vocab}${first > 0 ? ` from ${first}` : ''}`,
  role: k % 64 === 0 ? 'served' : 'edge',
  shape: { rows, k, vocab, first },
});

/** Rows 3, 7, … ask for an id that the table does not have: the one just past its end, the one just before it, any. */
function contents({ rows, vocab, first }: EmbedQ4Shape, table: Q4Table, random: Random): Contents {
  const before = first > 0 ? [first - 1, 0] : [0xffffffff];
  const end = first + vocab;
  const ids = Uint32Array.from({ length: rows }, (_, row) => {
    if (row === 0) return end - 1;
    if (row === 3) return end;
    if (row === 7) return before[0]!;
    return row % 4 === 3 ? random.pick([end, end + 1, 2 * end, 0xffffffff, ...before]) : first + random.integer(0, vocab - 1);
  });
  return { ids, codes: table.codes, scales: table.scales, biases: table.biases };
}

const fills: readonly Fill<EmbedQ4Shape>[] = [
  { name: 'spread', kind: 'spread', make: (at, random) => contents(at, spreadTable(random, at.vocab * at.k), random) },
  { name: 'exact', kind: 'exact', make: (at, random) => contents(at, exactTable(random, at.vocab * at.k), random) },
  {
    name: 'classes',
    kind: 'classes',
    make: (at, random) => {
      const { codes, biases } = exactTable(random, at.vocab * at.k);
      const { scales: plain } = q4Table(
        random,
        at.vocab * at.k,
        () => 1,
        () => 0,
      );
      // NaN, both infinities, both zeros, a subnormal and the largest finite value that 15 codes keep finite.
      const halves = Array.from({ length: plain.length * 2 }, () => random.pick([0x7fc0, 0x7f80, 0xff80, 0x0000, 0x8000, 0x0001, 0x7d00, 0x3f80]));
      return contents(at, { codes, scales: packPairs(halves), biases }, random);
    },
  },
];

export const contract: Contract<EmbedQ4Shape> = {
  kernel: embedQ4,
  meaning:
    'out[r, i] = scale·q + bias of table row ids[r] − first in float32, laid out as for qmm-q4. An id that is not one of the vocab from first on, ' +
    'whatever its value, gives a row of +0 where first is 0, and leaves its row as it was where first > 0: that row is another part’s. ' +
    'k is a multiple of 64; others are refused.',
  bounds:
    'scale·q is exact (8-bit times 4-bit significands), so one rounding is left, fused or not: |err| ≤ u·|out| with u = 2⁻²³ (spec) or 2⁻²⁴ (depth), ' +
    'plus 17·2⁻¹²⁶ for a scale (15 times), bias or result that a driver may flush.',
  families: { word: ['word'] },
  shapes: [
    shape('smallest', 1, 64, 1),
    shape('awkward', 5, 320, 33),
    shape('awkward', 18, 832, 7),
    shape('tiny', 1, 256, 2048),
    shape('tiny prefill', 64, 256, 2048),
    shape('2B slice', 9, 2048, 301),
    shape('awkward part', 9, 320, 33, 64),
    shape('tiny part', 12, 256, 1024, 1024),
    shape('2B slice part', 9, 2048, 301, 124160),
    shape('ragged group', 1, 100, 8),
  ],
  fills,
  absent: { stress: 'nothing is summed' },
  expect: (at, { ids, codes, scales, biases }) => {
    const values = embedQ4Reference(at, ids as Uint32Array, codes as Uint32Array, scales as Uint32Array, biases as Uint32Array);
    const bound = (u: number): Float64Array => values.map((value) => u * Math.abs(value) + 17 * FLUSH);
    const outside = (id: number): boolean => id < at.first || id >= at.first + at.vocab;
    const kept = Uint8Array.from({ length: values.length }, (_, i) => (at.first > 0 && outside(ids![Math.floor(i / at.k)]!) ? 1 : 0));
    return { out: { kind: 'bounded', values, spec: bound(U_SPEC), depth: bound(U_NEAREST), kept } };
  },
  sums: { none: 'each element is one product and one addition' },
};
