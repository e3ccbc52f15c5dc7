import type { Contents, Contract, ContractShape } from '../contract.ts';
import type { Random } from '../random.ts';
import { wordFills } from '../shared/word-fill.ts';
import { gatherReference } from './gather.reference.ts';
import { gather, type GatherShape } from './gather.ts';

const served = (name: string, rows: number, width: number, entries: number): ContractShape<GatherShape> => ({
  name: `${name} ${rows}x${width} of ${entries}`,
  role: 'served',
  shape: { rows, width, entries },
});

/**
 * Row 0 asks for the last entry and row 3 for the one just past it; rows 7, 11, … ask for ids that lie further out, one of them
 * so far that id·width wraps around to a place inside the table.
 */
function ids({ rows, entries }: GatherShape, random: Random): Contents {
  const beyond = [entries, entries + 1, 0x80000000, 0xffffffff] as const;
  const id = (row: number): number => {
    if (row === 0) return entries - 1;
    if (row === 3) return entries;
    return row % 4 === 3 ? random.pick(beyond) : random.integer(0, entries - 1);
  };
  return { ids: Uint32Array.from({ length: rows }, (_, row) => id(row)) };
}

export const contract: Contract<GatherShape> = {
  kernel: gather,
  meaning:
    'out[r, i] = table[ids[r], i], word for word, whatever the words stand for. An id at or past entries, whatever its value, gives a row of zero words; ' +
    'nothing behind the table is read.',
  bounds: 'Copies: every bit is due.',
  families: { word: ['word'] },
  shapes: [
    served('smallest', 1, 1, 1),
    served('awkward', 5, 77, 33),
    served('awkward', 18, 13, 7),
    served('awkward', 9, 1, 3),
    { ...served('tiny', 1, 256, 2048), fills: ['classes'] },
    served('tiny prefill', 64, 256, 256),
    { ...served('2B slice', 9, 2048, 101), fills: ['spread', 'classes'] },
    // One group more than a grid's row holds.
    { ...served('folded grid', 129, 2033, 5), fills: ['spread'] },
  ],
  fills: wordFills('table', (at: GatherShape) => at.entries * at.width, ids),
  absent: { stress: 'nothing is added' },
  expect: (at, contents) => ({ out: { kind: 'exact', bits: gatherReference(at, contents['ids'] as Uint32Array, contents['table'] as Uint32Array) } }),
  sums: { none: 'nothing is added' },
};
