import { expect, test } from 'vitest';
import type { DeviceView } from '../protocol/agent.ts';
import { submitNotes, type Submitted } from './submit-notes.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const arm = (label: string, head: string, settings: Record<string, string> = {}, tree = head) => ({ label, head, settings, tree });
const notes = (more: Partial<Submitted>): string[] =>
  submitNotes({ arms: [arm('main', A), arm('HEAD', B)], checkedOut: B, edits: 0, devices: [], named: false, ...more });

test('nothing to say of two commits and a clean tree', () => {
  expect(notes({})).toEqual([]);
});

test('edits are told of where the checked-out commit is an arm, by whatever name', () => {
  expect(notes({ edits: 3 })).toEqual(['3 changed files are not committed and are not tested. next: git commit, then submit again']);
  expect(notes({ edits: 1 })).toEqual(['1 changed file is not committed and is not tested. next: git commit, then submit again']);
  expect(notes({ edits: 3, checkedOut: 'c'.repeat(40) })).toEqual([]);
});

test('arms that run the same files with the same settings measure noise', () => {
  expect(notes({ arms: [arm('main', A), arm('HEAD', A)] })).toEqual([
    `both arms are commit ${A.slice(0, 12)} with the same settings: this measures noise only`,
  ]);
  expect(notes({ arms: [arm('x[a=1,b=2]', A, { a: '1', b: '2' }), arm('x[b=2,a=1]', A, { b: '2', a: '1' })] })).toHaveLength(1);
  expect(notes({ arms: [arm('main', A, {}, 'tree'), arm('HEAD', B, {}, 'tree')] })).toEqual([
    `both arms are the files of commit ${B.slice(0, 12)} with the same settings: this measures noise only`,
  ]);
  expect(notes({ arms: [arm('main', A), arm('HEAD', B), arm('v1', A)] })).toEqual([
    `main and v1 are both commit ${A.slice(0, 12)} with the same settings: this measures noise only`,
  ]);
  expect(notes({ arms: [arm('x[a=1]', A, { a: '1' }), arm('x', A)] })).toEqual([]);
});

test('a device that nobody serves is told of, unless devices were named', () => {
  const device = { device: 'b60', live: false, note: 'stopped at noon; start it with: fleet agent' } as DeviceView;
  const told = ['nobody serves device b60 now: stopped at noon; start it with: fleet agent'];
  expect(notes({ devices: [device, { ...device, live: true }] })).toEqual(told);
  expect(notes({ devices: [device], named: true })).toEqual([]);
});
