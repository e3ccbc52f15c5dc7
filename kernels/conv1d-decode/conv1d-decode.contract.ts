import type { Contract, ContractShape } from '../contract.ts';
import { CONV1D_BOUNDS, conv1dExpect, conv1dFills, conv1dReplay } from '../shared/conv1d-contract.ts';
import { conv1dDecodeReference } from './conv1d-decode.reference.ts';
import { conv1dDecode, type Conv1dDecodeShape } from './conv1d-decode.ts';

const served = (name: string, rows: number, channels: number, taps: number): ContractShape<Conv1dDecodeShape> => ({
  name: `${name} ${rows}x${channels}x${taps}`,
  role: 'served',
  shape: { rows, channels, taps },
});

export const contract: Contract<Conv1dDecodeShape> = {
  kernel: conv1dDecode,
  meaning:
    'out[r, c] = silu(Σ_t weight[c, t]·column[r + t, c]) in float32, where the columns are the state (taps − 1 of them, oldest first) followed by the rows of x, here one, ' +
    'so that tap taps − 1 meets the current row. Afterwards the state holds the last taps − 1 columns, raw, bit for bit. A NaN reaches exactly the sums that read it; silu saturates and never overflows.',
  bounds: CONV1D_BOUNDS,
  families: { channel: ['default'] },
  shapes: [
    served('smallest', 1, 1, 2),
    served('awkward', 1, 67, 7),
    served('two taps', 1, 130, 2),
    served('tiny', 1, 512, 4),
    served('2B', 1, 6144, 4),
    { name: 'two rows', role: 'edge', shape: { rows: 2, channels: 8, taps: 4 } },
  ],
  fills: conv1dFills,
  absent: { exact: 'exp may be off by 3 ULP for any argument, 0 included, so no silu is exact' },
  expect: (shape, contents) => conv1dExpect(conv1dDecodeReference, shape, contents),
  sums: [{ name: 'taps', shape: { rows: 1, channels: 100, taps: 4 }, fill: 'stress', output: 'out', family: 'channel', replay: conv1dReplay }],
};
