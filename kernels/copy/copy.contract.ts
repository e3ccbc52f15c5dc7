import type { Contract, ContractShape } from '../contract.ts';
import { wordFills } from '../shared/word-fill.ts';
import { copyReference } from './copy.reference.ts';
import { copy, type CopyShape } from './copy.ts';

const shape = (
  name: string,
  rows: number,
  width: number,
  sourceStride = width,
  outStride = width,
  role: 'served' | 'edge' = 'served',
): ContractShape<CopyShape> => ({ name: `${name} ${rows}x${width}, ${sourceStride} to ${outStride}`, role, shape: { rows, width, sourceStride, outStride } });

export const contract: Contract<CopyShape> = {
  kernel: copy,
  meaning:
    'out[r·outStride + i] = source[r·sourceStride + i] for i < width, word for word, whatever the words stand for. Words between the rows of out stay. ' +
    'A stride below width is refused.',
  bounds: 'Copies: every bit is due, and every other word stays.',
  families: { word: ['word'] },
  shapes: [
    shape('smallest', 1, 1),
    shape('awkward', 3, 63),
    shape('awkward', 5, 65, 77, 65),
    shape('awkward', 7, 13, 13, 32),
    shape('awkward', 9, 1, 3, 2),
    shape('tiny', 1, 256),
    shape('tiny prefill, padded rows', 17, 256, 320, 288),
    shape('2B', 1, 2048),
    shape('2B, q out of [q | gate]', 9, 2048, 4096, 2048),
    // One group more than a grid's row holds.
    { ...shape('folded grid', 1, 4_097 * 64 - 3), fills: ['spread'] },
    shape('rows that overlap', 3, 8, 4, 8, 'edge'),
    shape('rows that would overlap in out', 3, 8, 8, 4, 'edge'),
  ],
  fills: wordFills('source', (at: CopyShape) => at.rows * at.sourceStride),
  absent: { stress: 'nothing is added' },
  expect: (at, { source }) => {
    const length = at.rows * at.outStride;
    const kept = Uint8Array.from({ length }, (_, i) => (i % at.outStride < at.width ? 0 : 1));
    return { out: { kind: 'exact', bits: copyReference(at, source as Uint32Array, new Uint32Array(length)), kept } };
  },
  sums: { none: 'nothing is added' },
};
