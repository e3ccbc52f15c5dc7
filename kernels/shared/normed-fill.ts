/** Fills of one row that is normed and multiplied by a 4-bit table. */
import type { Contents, Fill, FillKind } from '../contract.ts';
import type { Random } from '../random.ts';
import { exactTable, plantClass, positiveTable, type Q4Table } from './q4-fill.ts';

/** Contents of the kernels that include shared/norm-stage.wgsl. */
export type NormedInputs = Record<'codes' | 'scales' | 'biases', Uint32Array> & Record<'x' | 'norm', Float32Array>;

type Table = (random: Random, elements: number) => Q4Table;

/**
 * Fills of every kind but exact.
 * @param rows rows of the table for a shape.
 * @param spreads tables of the spread fills, by name.
 */
export function normedFills<S extends Readonly<{ k: number }> & Readonly<Record<string, number>>>(
  rows: (shape: S) => number,
  spreads: Readonly<Record<string, Table>>,
): readonly Fill<S>[] {
  const fill = (name: string, kind: FillKind, row: (k: number, random: Random) => Float32Array, weight: (random: Random) => number, table: Table): Fill<S> => ({
    name,
    kind,
    make: (shape, random): Contents => {
      const x = row(shape.k, random);
      const norm = Float32Array.from({ length: shape.k }, () => weight(random));
      const { codes, scales, biases } = table(random, rows(shape) * shape.k);
      return { x, norm, codes, scales, biases };
    },
  });
  const classes = (name: string, kind: number): Fill<S> =>
    fill(
      name,
      'classes',
      (k, random) => {
        const x = Float32Array.from({ length: k }, () => random.decades(1e-2, 1e2));
        plantClass(kind, x, random);
        return x;
      },
      (random) => random.decades(1e-2, 1e2),
      exactTable,
    );
  return [
    ...Object.entries(spreads).map(([name, table]) => fill(name, 'spread', spreadRow, (random) => random.decades(1e-1, 1e1), table)),
    // Squares between 2.5e5 and 1e6, and products of 50 to 1000: either sum passes 65504, and a bf16 one is off by far more than the bound.
    fill(
      'stress',
      'stress',
      (k, random) => Float32Array.from({ length: k }, () => random.uniform(500, 1000)),
      (random) => random.uniform(64, 128),
      positiveTable,
    ),
    classes('nan', 0),
    classes('infinity', 1),
    classes('zeros', 4),
    classes('subnormals', 5),
  ];
}

/** Rows differ in size too, down to where eps decides. */
function spreadRow(k: number, random: Random): Float32Array {
  const size = 10 ** random.uniform(-4, 3);
  return Float32Array.from({ length: k }, () => size * random.decades(1e-3, 1));
}
