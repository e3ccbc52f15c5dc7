import { expect, test } from 'vitest';
import type { BoundedOutput, ExactOutput } from '../../kernels/contract.ts';
import { compareOutput, exactBits } from './compare.ts';

const words = (...values: number[]): Uint32Array => new Uint32Array(Float32Array.from(values).buffer);
const POISONED = new Uint32Array(4).fill(0x7fe5a5a5);

function bounded(values: number[], spec: number, depth: number): BoundedOutput {
  const of = (value: number): Float64Array => new Float64Array(values.length).fill(value);
  return { kind: 'bounded', values: Float64Array.from(values), spec: of(spec), depth: of(depth) };
}

test('a bounded output inside its depth bound has no fault and no alarm', () => {
  const { fault, alarm, worst, nmse, checks } = compareOutput(bounded([1, 2, 0, -4], 1e-3, 1e-4), words(1, 2, 0, -4), POISONED);
  expect({ fault, alarm, worst, nmse, checks }).toEqual({ fault: '', alarm: '', worst: 0, nmse: 0, checks: 4 });
});

test('between the depth and the spec bound it alarms, with the worst fraction of the spec bound', () => {
  const { fault, alarm, worst } = compareOutput(bounded([1, 2, 0, -4], 2 ** -10, 2 ** -14), words(1, 2 + 2 ** -12, 0, -4), POISONED);
  expect(fault).toBe('');
  expect(alarm).toBe('element 1 is off by 4.00 of its depth bound');
  expect(worst).toBe(0.25);
});

test('a corrupted element over the spec bound is refused by its place', () => {
  const { fault, worst } = compareOutput(bounded([1, 2, 0, -4], 1e-3, 1e-4), words(1, 2, 0.5, -4), POISONED);
  expect(fault).toContain('element 2 is 0.5');
  expect(worst).toBeGreaterThan(1);
});

test('one zeroed element among 4,096 is refused, although its NMSE is small', () => {
  const values = Array.from({ length: 4096 }, (_, i) => 1 + (i % 7));
  const out = words(...values);
  out[1234] = 0;
  const { fault, nmse } = compareOutput(bounded(values, 1e-3, 1e-4), out, new Uint32Array(4096));
  expect(fault).toContain('element 1234');
  expect(nmse).toBeLessThan(5e-4);
});

test('a planted NaN, a planted infinity and an unwritten (poisoned) element are refused', () => {
  const expected = bounded([1, 2, 0, -4], 1e-3, 1e-4);
  expect(compareOutput(expected, words(1, NaN, 0, -4), POISONED).fault).toContain('element 1 is nan');
  expect(compareOutput(expected, words(1, 2, 0, -Infinity), POISONED).fault).toContain('element 3 is -inf');
  const unwritten = words(1, 2, 0, -4);
  unwritten[0] = POISONED[0]!;
  expect(compareOutput(expected, unwritten, POISONED).fault).toContain('element 0 is nan');
});

test('a NaN that is due must be there, and several faults are counted', () => {
  expect(compareOutput(bounded([NaN, 2], 1e-3, 1e-4), words(NaN, 2), POISONED).fault).toBe('');
  expect(compareOutput(bounded([NaN, 2], 1e-3, 1e-4), words(0, 3), POISONED).fault).toBe('element 0 is +0 where NaN is due (and 1 more)');
});

test('an exact output refuses a flipped sign of zero and a single bit', () => {
  const expected: ExactOutput = { kind: 'exact', bits: words(0, 1) };
  expect(compareOutput(expected, words(0, 1), POISONED).fault).toBe('');
  expect(compareOutput(expected, words(-0, 1), POISONED).fault).toContain('the sign of zero');
  expect(compareOutput(expected, Uint32Array.of(0, 0x3f800001), POISONED).fault).toContain('element 1');
});

test('kept elements must hold what they held', () => {
  const kept = Uint8Array.of(0, 1);
  const initial = words(9, 7);
  const exact: ExactOutput = { kind: 'exact', bits: words(1, 0), kept };
  expect(compareOutput(exact, words(1, 7), initial).fault).toBe('');
  expect(compareOutput(exact, words(1, 0), initial).fault).toContain('to be left alone');
  const loose: BoundedOutput = { ...bounded([1, 0], 1, 1), kept };
  expect(compareOutput(loose, words(1, 7), initial).fault).toBe('');
  expect(compareOutput(loose, words(1, 7.5), initial).fault).toContain('to be left as 7');
});

test('an exact fill turns a bounded expectation into bits, and a value that is no float32 is refused', () => {
  expect([...exactBits(bounded([1.5, -2], 1, 1)).bits]).toEqual([...words(1.5, -2)]);
  expect(() => exactBits(bounded([1, 0.1], 1, 1))).toThrow('element 1 is 0.1, which is no float32');
});

test('an expectation of another length, or without a finite bound, is a defect and not a pass', () => {
  expect(() => compareOutput(bounded([1], 1, 1), words(1, 2), POISONED)).toThrow('expects 1 elements of an output of 2');
  expect(() => compareOutput(bounded([1], NaN, 1), words(1), POISONED)).toThrow('unusable');
});
