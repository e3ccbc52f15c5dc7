import type { Contract, ContractShape, Fill } from '../contract.ts';
import { FLUSH, gamma, U_NEAREST, U_SPEC } from '../shared/bounds.ts';
import { exponentWords, packHalves } from '../shared/halves.ts';
import { plantClass } from '../shared/q4-fill.ts';
import { rowsToHalvesReference } from './rows-to-halves.reference.ts';
import { rowsToHalves, type RowsToHalvesShape } from './rows-to-halves.ts';

type Role = ContractShape<RowsToHalvesShape>['role'];

const shape = (role: Role, name: string, rows: number, k: number, parts: number): ContractShape<RowsToHalvesShape> => ({
  name: `${name} ${rows}x${k}, ${parts} parts`,
  role,
  shape: { rows, k, parts },
});

const bits = (x: Float32Array): { x: Uint32Array } => ({ x: new Uint32Array(x.buffer) });

/** Elements over six decades, a scale a row over sixty: the exponent differs from row to row. */
const spread: Fill<RowsToHalvesShape> = {
  name: 'spread',
  kind: 'spread',
  make: ({ rows, k }, random) => {
    const x = new Float32Array(rows * k);
    for (let row = 0; row < rows; row++) {
      const scale = Math.abs(random.decades(1e-30, 1e30));
      for (let i = 0; i < k; i++) x[row * k + i] = random.decades(1e-3, 1e3) * scale;
    }
    return bits(x);
  },
};

/** Rows that no power of two brings to 2¹⁴: the exponent stops at 126. */
const small: Fill<RowsToHalvesShape> = {
  name: 'small',
  kind: 'spread',
  make: ({ rows, k }, random) => bits(Float32Array.from({ length: rows * k }, () => random.decades(1e-37, 1e-35))),
};

/** Quarters within ±2, which are halves: sums of 64 are exact, and a second part is 0. */
const exact: Fill<RowsToHalvesShape> = {
  name: 'exact',
  kind: 'exact',
  make: ({ rows, k }, random) => bits(Float32Array.from({ length: rows * k }, () => random.integer(-8, 8) / 4)),
};

/** Positive and of one size: 64 scaled elements pass 65504 after two to four, and a bf16 sum stops growing after 256 units. */
const stress: Fill<RowsToHalvesShape> = {
  name: 'stress',
  kind: 'stress',
  make: ({ rows, k }, random) => bits(Float32Array.from({ length: rows * k }, () => random.uniform(256, 512))),
};

const classes: Fill<RowsToHalvesShape> = {
  name: 'classes',
  kind: 'classes',
  make: ({ rows, k }, random) => {
    const x = Float32Array.from({ length: rows * k }, () => random.decades(1e-3, 1e3));
    const offset = random.integer(0, 5);
    for (let row = 0; row < rows; row++) plantClass((row + offset) % 6, x.subarray(row * k, row * k + k), random);
    return bits(x);
  },
};

const floats = (words: unknown): Float32Array => new Float32Array((words as Uint32Array).slice().buffer);

export const contract: Contract<RowsToHalvesShape> = {
  kernel: rowsToHalves,
  meaning:
    'Row r of x [rows, k] times 2^e[r] as 16-bit floats, and its sums by 64. e brings the largest magnitude of the row into [2¹⁴, 2¹⁵), so that nothing overflows; at ' +
    'most 126, and 0 for a row of zeros; x below 2⁻¹²⁶ counts as 0. Part 0 is the element to 11 bits, ties to even, 0 below 2⁻¹⁴; part 1, where parts is 2, the same of what ' +
    'part 0 left. So |x·2^e − part 0| ≤ 2⁻¹¹·|x·2^e|, and with part 1 ≤ 2⁻²²·|x·2^e|, or 2⁻¹⁴, which is 2⁻²⁸ of the largest, where that is more. Zeros are +0. A row with a NaN or an infinity ' +
    'has exponent word 32767, and halves and sums of 0: who reads it must give NaN. Eight elements are four words, lower half first: 0 4, 1 5, 2 6, 3 7.',
  bounds:
    'halves and exponents: these bits, on every device. sums: spec γ_63·Σ|x·2^e| with u = 2⁻²³, 64 terms in any order; depth γ_10 with u = 2⁻²⁴: three additions in an eight, ' +
    'seven of eights. Scaling is exact. Both add 64·2⁻¹²⁶ for what a driver may flush.',
  families: { bits: ['row'] },
  shapes: [
    shape('served', 'smallest', 1, 64, 1),
    shape('served', 'smallest', 1, 64, 2),
    shape('served', 'awkward', 7, 320, 1),
    shape('served', 'awkward', 7, 320, 2),
    shape('served', 'tiny', 17, 256, 1),
    shape('served', 'tiny down', 3, 768, 2),
    shape('served', '2B hidden', 2, 2048, 1),
    shape('served', '2B hidden', 1, 2048, 2),
    shape('served', '2B down', 2, 6144, 1),
    shape('served', 'turned lanes', 6, 2112, 2),
    shape('edge', 'ragged group', 1, 100, 1),
    shape('edge', 'three parts', 1, 64, 3),
  ],
  fills: [spread, small, exact, stress, classes],
  expect: (asked, contents) => {
    const { halves, sums, magnitudes, exponents } = rowsToHalvesReference(asked, floats(contents['x']));
    const bound = (relative: number): Float64Array => magnitudes.map((size) => relative * size + 64 * FLUSH);
    return {
      halves: { kind: 'exact', bits: packHalves(halves) },
      sums: { kind: 'bounded', values: sums, spec: bound(gamma(63, U_SPEC)), depth: bound(gamma(10, U_NEAREST)) },
      exponents: { kind: 'exact', bits: exponentWords(exponents) },
    };
  },
  sums: [
    {
      name: 'sum of 64',
      shape: { rows: 2, k: 256, parts: 1 },
      fill: 'stress',
      output: 'sums',
      family: 'bits',
      replay: ({ rows, k }, contents, round) => {
        const x = floats(contents['x']);
        const { exponents } = rowsToHalvesReference({ rows, k, parts: 1 }, x);
        return Float64Array.from({ length: (rows * k) / 64 }, (_, group) => {
          const e = exponents[Math.floor(group / (k / 64))]!;
          let sum = 0;
          for (let eight = 0; eight < 8; eight++) {
            const at = (i: number): number => x[group * 64 + eight * 8 + i]! * 2 ** e;
            const low = round(round(at(0) + at(1)) + round(at(2) + at(3)));
            const high = round(round(at(4) + at(5)) + round(at(6) + at(7)));
            sum = eight === 0 ? round(low + high) : round(sum + round(low + high));
          }
          return sum;
        });
      },
    },
  ],
};
