import { expect, test } from 'vitest';
import { normGateUpQ4Reference } from './norm-gate-up-q4.reference.ts';

const ONE = 0x3f80;
const TWO = 0x4000;
const MINUS_HALF = 0xbf00;
const NONE = 0;

/** 64 elements of which 0 and 9 are 20 and −20: the mean square is 12.5, and with eps 3.5 its root 4, so that m is 5 and −5 there. */
function row(): Float32Array {
  const x = new Float32Array(64);
  x[0] = 20;
  x[9] = -20;
  return x;
}

test('gate is row c, up row upRow + c, and rows between are nobody’s', () => {
  const norm = new Float32Array(64).fill(1);
  norm[9] = 3; // m[9] = -15
  const codes = new Uint32Array(24);
  codes[0] = 0x00000003; // row 0, gate: element 0 is 3
  codes[8] = 0xffffffff; // row 1: neither's
  codes[17] = 0x00000070; // row 2, up: element 9 is 7
  const scales = Uint32Array.of((ONE << 16) | TWO, MINUS_HALF);
  const biases = Uint32Array.of((ONE << 16) | NONE, TWO);
  const { values, gate, up } = normGateUpQ4Reference({ n: 1, k: 64, upRow: 2, eps: 3.5 }, row(), norm, codes, scales, biases);
  expect([...gate.values]).toEqual([30]); // 2·3·5 + 0
  expect([...up.values]).toEqual([32.5]); // -0.5·7·(-15) + 2·(-10)
  expect(values[0]).toBeCloseTo(30 * 32.5, 8); // e^-30 is 1e-13
  expect([...gate.terms]).toEqual([30]);
  expect([...up.terms]).toEqual([52.5 + 40]);
  // r = 1/4; 1 + |norm|(1 + r) + r|x| is 7.25 at element 0, 9.75 at 9 and 2.25 at the 62 others: 156.5 in all.
  expect([...gate.units]).toEqual([64 + 20 + 2 * 156.5 + 2 * 3 * 7.25]);
  expect([...up.units]).toEqual([64 + 20 + 2.5 * 156.5 + 0.5 * 7 * 9.75]);
});

test('silu of the gate: half of it at 0, ln 3 times 3/4 at ln 3', () => {
  const x = new Float32Array(64);
  x[0] = 8; // the mean square is 1
  const norm = new Float32Array(64).fill(Math.log(3) / 8);
  const codes = new Uint32Array(16);
  codes[0] = 1;
  codes[8] = 2;
  const ones = Uint32Array.of((ONE << 16) | ONE);
  const { values } = normGateUpQ4Reference({ n: 1, k: 64, upRow: 1, eps: 1e-30 }, x, norm, codes, ones, new Uint32Array(1));
  expect(values[0]).toBeCloseTo(Math.log(3) * 0.75 * 2 * Math.log(3), 6);
});
