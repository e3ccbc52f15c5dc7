import { expect, test } from 'vitest';
import type { KnownFinding } from '../../kernels/expectations.ts';
import type { GateResult } from '../protocol.ts';
import { Tally } from './tally.ts';
import { verdictOf } from './verdict.ts';

const pass: GateResult = { status: 'pass', checks: 1, detail: '' };
const fail: GateResult = { status: 'fail', checks: 1, detail: 'red' };
const finding: KnownFinding = { device: /Odd/, kernel: 'k', gate: 3, reason: 'flushes' };

test('all gates green is a pass', () => {
  expect(verdictOf('k', pass, { 1: pass, 2: pass, 3: pass, 4: pass }, [])).toEqual({ status: 'pass', known: null, unexpectedPasses: [] });
});

test('a red gate fails, and a known finding explains only its own gate', () => {
  expect(verdictOf('k', pass, { 1: pass, 2: pass, 3: fail, 4: pass }, []).status).toBe('fail');
  expect(verdictOf('k', pass, { 1: pass, 2: pass, 3: fail, 4: pass }, [finding])).toEqual({ status: 'known', known: 'gate 3: flushes', unexpectedPasses: [] });
  expect(verdictOf('k', pass, { 1: pass, 2: fail, 3: fail, 4: pass }, [finding]).status).toBe('fail');
});

test('a limit failure is never known', () => {
  expect(verdictOf('k', fail, { 1: pass, 2: pass, 3: fail, 4: pass }, [finding]).status).toBe('fail');
});

test('a known finding that passes is reported', () => {
  expect(verdictOf('k', pass, { 1: pass, 2: pass, 3: pass, 4: pass }, [finding])).toEqual({
    status: 'pass',
    known: null,
    unexpectedPasses: ['k gate 3: flushes'],
  });
});

test('a gate that compared nothing did not pass', () => {
  expect(new Tally().result().status).toBe('fail');
});

test('a gate keeps its first fault and counts the comparisons of all', () => {
  const tally = new Tally();
  tally.add(3, 'a', '');
  tally.add(4, 'b', 'first');
  tally.add(5, 'c', 'second');
  expect(tally.result()).toEqual({ status: 'fail', checks: 12, detail: 'b: first' });
});

test('a gate that does not apply says why', () => {
  const tally = new Tally();
  tally.skip('nothing is summed');
  expect(tally.result()).toEqual({ status: 'not-applicable', checks: 0, detail: 'nothing is summed' });
});
