import { expect, test } from 'vitest';
import { argmaxReference } from './argmax.reference.ts';

const bits = (...values: number[]): Uint32Array => new Uint32Array(Float32Array.from(values).buffer);
const NONE = 0xffffffff;

test('the lowest index of the largest', () => {
  expect([...argmaxReference(bits(-3, 2, 5, 5, -7))]).toEqual([2, 1, NONE, 0]);
  expect([...argmaxReference(bits(-3, -2, -5))]).toEqual([1, 1, NONE, 0]);
});

test('-0 equals +0, so the lower index wins', () => {
  expect([...argmaxReference(bits(-1, -0, 0))]).toEqual([1, 1, NONE, 0]);
});

test('names the first logit that is not finite and chooses among the rest', () => {
  expect([...argmaxReference(bits(1, NaN, 3, Infinity))]).toEqual([2, 0, 1, 0]);
  expect([...argmaxReference(bits(-Infinity, NaN))]).toEqual([NONE, 0, 0, 0]);
});
