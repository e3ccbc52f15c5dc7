import { expect, test } from 'vitest';
import { contractFault } from './completeness.ts';
import { contract as rms } from './rms-norm/rms-norm.contract.ts';
import { contract as qmm } from './qmm-q4/qmm-q4.contract.ts';
import type { Contract } from './contract.ts';

const whole = qmm as unknown as Contract;

test('the shipped contracts are whole', () => {
  expect(contractFault(whole)).toBe('');
  expect(contractFault(rms as unknown as Contract)).toBe('');
});

test.each<[string, Partial<Contract>, string]>([
  ['a variant in no family', { families: { 'serial-k': ['scalar'] } }, 'variant vec4 is in 0 families'],
  ['a variant in two', { families: { one: ['scalar', 'vec4'], two: ['vec4'] } }, 'variant vec4 is in 2 families'],
  ['a member that is no variant', { families: { 'serial-k': [...qmm.kernel.variants, 'vec8'] } }, 'family member vec8'],
  ['a shape for a variant that is none', { shapes: [{ ...whole.shapes[0]!, variants: ['vec8'] }] }, 'a shape names vec8'],
  ['no exact fill and no reason', { fills: whole.fills.filter(({ kind }) => kind !== 'exact') }, 'no exact fill and does not say why'],
  ['a reason for a fill that is there', { absent: { stress: 'none' } }, 'has a stress fill and says why it has none'],
  ['a name used twice', { shapes: [whole.shapes[0]!, whole.shapes[0]!] }, 'used twice'],
  ['edges only', { shapes: whole.shapes.filter(({ role }) => role === 'edge') }, 'no served shape'],
  ['sums forgotten', { sums: [] }, 'no sums and does not say why'],
  ['no derivation', { bounds: '' }, 'the derivation of its bounds is empty'],
])('%s is refused', (_, change, fault) => {
  expect(contractFault({ ...whole, ...change })).toContain(fault);
});
