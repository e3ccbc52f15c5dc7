import type { Contract, ContractShape } from '../contract.ts';
import { CONV1D_BOUNDS, conv1dExpect, conv1dFills, conv1dReplay } from '../shared/conv1d-contract.ts';
import { conv1dPrefillReference } from './conv1d-prefill.reference.ts';
import { conv1dPrefill, type Conv1dPrefillShape } from './conv1d-prefill.ts';

const served = (name: string, rows: number, channels: number, taps: number, stride = channels): ContractShape<Conv1dPrefillShape> => ({
  name: `${name} ${rows}x${channels}x${taps}${stride > channels ? ` of ${stride}` : ''}`,
  role: 'served',
  shape: { rows, channels, taps, stride },
});

export const contract: Contract<Conv1dPrefillShape> = {
  kernel: conv1dPrefill,
  meaning:
    'out[r, c] = silu(Σ_t weight[c, t]·column[r + t, c]) in float32, where the columns are the state (taps − 1 of them, oldest first) followed by the rows of x, ' +
    'so that tap taps − 1 meets the current row. Afterwards the state holds the last taps − 1 columns, raw, bit for bit. A NaN reaches exactly the sums that read it; silu saturates and never overflows.',
  bounds: CONV1D_BOUNDS,
  families: { channel: ['default'] },
  shapes: [
    served('smallest', 1, 1, 2),
    served('fewer rows than the state', 2, 70, 4),
    served('awkward', 5, 67, 7),
    served('tiny', 17, 512, 4),
    served('within wider rows', 5, 67, 4, 101),
    served('tiny, one row', 1, 512, 4),
    served('2B', 3, 6144, 4),
  ],
  fills: conv1dFills,
  absent: { exact: 'exp may be off by 3 ULP for any argument, 0 included, so no silu is exact' },
  expect: (shape, contents) => conv1dExpect(conv1dPrefillReference, shape, contents),
  sums: [{ name: 'taps', shape: { rows: 3, channels: 40, taps: 4, stride: 40 }, fill: 'stress', output: 'out', family: 'channel', replay: conv1dReplay }],
};
