import { expect, it } from 'vitest';
import { gdnChunkPrepareReference } from './gdn-chunk-prepare.reference.ts';

it('inverts I + L and decays between rows only', () => {
  // Keys 1, 2, 4 and β = 1, 1/2, 1/4; row 0's decay is in nothing, row 1 halves, row 2 quarters.
  // L_10 = ½·2·½ = ½; L_20 = ¼·4·⅛ = ⅛; L_21 = ¼·8·¼ = ½. T_20 = −⅛ + ½·½ = ⅛.
  // P_00 = 3; P_10 = 5·½, P_11 = 10; P_20 = 7·⅛, P_21 = 14·¼, P_22 = 28.
  const inputs = { q: [3, 5, 7], k: [1, 2, 4], g: [-9, Math.log(0.5), Math.log(0.25)], beta: [1, 0.5, 0.25] };
  const { mixes } = gdnChunkPrepareReference({ rows: 3, kHeads: 1, vHeads: 1, dk: 1 }, inputs);
  const expected = [
    [1, 0, 0],
    [3, 0, 0],
    [-0.5, 1, 0],
    [2.5, 10, 0],
    [0.125, -0.5, 1],
    [0.875, 3.5, 28],
  ];
  expected.forEach((row, at) => row.forEach((value, m) => expect(mixes[at * 16 + m], `${at}, ${m}`).toBeCloseTo(value, 12)));
  expect(mixes.filter((value) => value !== 0)).toHaveLength(12);
});

it('starts anew at row 16, and gives key heads to value heads in order', () => {
  // Two key heads of 1 and 10 for four value heads: q·k is 1 or 100.
  const shape = { rows: 17, kHeads: 2, vHeads: 4, dk: 1 };
  const keys = Array.from({ length: 34 }, (_, i) => (i % 2 ? 10 : 1));
  const { mixes } = gdnChunkPrepareReference(shape, { q: keys, k: keys, g: new Float32Array(68), beta: new Float32Array(68) });
  const last = [0, 1, 2, 3].map((head) => Array.from(mixes.subarray((16 * 4 + head) * 32, (16 * 4 + head + 1) * 32)));
  const row = (read: number): number[] => Array.from({ length: 32 }, (_, m) => (m === 0 ? 1 : m === 16 ? read : 0));
  expect(last).toEqual([row(1), row(1), row(100), row(100)]);
});
