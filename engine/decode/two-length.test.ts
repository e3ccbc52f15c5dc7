import { expect, it } from 'vitest';
import { countLines, perToken, type CountedRun } from './two-length.ts';

function run(steps: number, dispatches: Record<string, number>, submits: Record<string, number>, bytesReadBack: number): CountedRun {
  return { steps, counters: { dispatches, submits, bytesReadBack } };
}

const short = run(4, { 'qmm-q4': 60, 'gdn-prefill': 7, argmax: 4 }, { token: 4, upload: 3 }, 16);

it('leaves what the prompt cost out and divides the rest', () => {
  const counts = perToken(short, run(12, { 'qmm-q4': 140, 'gdn-prefill': 7, argmax: 12 }, { token: 12, upload: 3 }, 48));
  expect(counts).toEqual({ dispatches: { argmax: 1, 'qmm-q4': 10 }, submits: { token: 1 }, bytesReadBack: 4 });
  expect(countLines(counts)).toEqual(['a token: 11 dispatches, 1 submits (1 token), 4 bytes read back', '   10  qmm-q4', '    1  argmax']);
});

it.each([
  [{ 'qmm-q4': 141, 'gdn-prefill': 7, argmax: 12 }, { token: 12, upload: 3 }, 48, 'dispatches of qmm-q4: 60 in 4 steps and 141 in 12'],
  [{ 'qmm-q4': 140, 'gdn-prefill': 7, argmax: 12, copy: 1 }, { token: 12, upload: 3 }, 48, 'dispatches of copy: 0 in 4 steps and 1'],
  [{ 'qmm-q4': 140, 'gdn-prefill': 7, argmax: 12 }, { token: 12, upload: 4 }, 48, 'submits of trigger upload: 3 in 4 steps and 4'],
  [{ 'qmm-q4': 140, 'gdn-prefill': 7, argmax: 12 }, { token: 12 }, 48, 'submits of trigger upload: 3 in 4 steps and 0'],
  [{ 'qmm-q4': 140, 'gdn-prefill': 7, argmax: 12 }, { token: 12, upload: 3 }, 50, 'bytes read back: 16 in 4 steps and 50'],
])('refuses counts that are not whole', (dispatches, submits, bytes, message) => {
  expect(() => perToken(short, run(12, dispatches, submits, bytes))).toThrow(message);
});
