import { describe, expect, it } from 'vitest';
import { failuresOf, maskLine, stripControls } from './mask.ts';

const M1 = 'SUMMARY Apple M1 (G13G B1) 3 kernels: 3 pass gates 1-4, 0 fail, 0 known findings; 8 controls: 8 caught, 0 missed; 0 limit failures; gates 32345 ms';

describe('the published line shapes', () => {
  it('SUMMARY: only the gates’ time is masked', () => {
    const line = maskLine(M1);
    expect(line.masked).toBe(M1.replace('32345', '⟨time⟩'));
    expect(line.fields).toEqual(['gates ms']);
    expect(line.tally).toEqual({ kernels: 3, pass: 3, fail: 0, known: 0, controls: 8, caught: 8, missed: 0, 'limit-failures': 0 });
  });

  it('RESULT: elapsed_ms is masked, the device’s name and the counts are not', () => {
    const line = maskLine('RESULT stage1 elapsed_ms=8053 on "Apple M1 Max (G13C C0)": passed=21 total=21');
    expect(line.masked).toBe('RESULT stage1 elapsed_ms=⟨time⟩ on "Apple M1 Max (G13C C0)": passed=21 total=21');
    expect(line.fields).toEqual(['elapsed_ms']);
    expect(line.tally).toEqual({ passed: 21, total: 21 });
  });

  it.each([
    ['kernels=7 passed=7 failed=0 controls=0 known=0', { kernels: 7, passed: 7, failed: 0, controls: 0, known: 0 }, 0],
    ['passed=15 total=15', { passed: 15, total: 15 }, 0],
    ['passed=14 total=15', { passed: 14, total: 15 }, 1],
    ['1 kernel, 1 pass gates 1-4, 0 fail; 1 control: 1 red as planted, 0 missed', { kernels: 1, pass: 1, fail: 0, controls: 1, caught: 1, missed: 0 }, 0],
    ['passed=16 known=1 total=17', { passed: 16, known: 1, total: 17 }, 0],
    ['kernels=7 passed=6 failed=1 controls=0 known=0', { kernels: 7, passed: 6, failed: 1, controls: 0, known: 0 }, 1],
    ['1 kernel, 1 pass gates 1-4, 0 fail; 1 control: 0 red as planted, 1 missed', { kernels: 1, pass: 1, fail: 0, controls: 1, caught: 0, missed: 1 }, 1],
  ])('%s', (text, tally, failures) => {
    const line = maskLine(text);
    expect(line).toEqual({ masked: text, fields: [], times: [], tally });
    expect(failuresOf(line.tally!)).toBe(failures);
  });

  it('a limit failure is a failure of its own', () => {
    expect(failuresOf(maskLine(M1.replace('0 limit', '2 limit')).tally!)).toBe(2);
  });
});

describe('masks what carries time', () => {
  it.each([
    ['took 3.25 s', 'took ⟨time⟩ s', ['took s']],
    ['decode 63 steps in 1,234.5 ms (19.4 tok/s)', 'decode 63 steps in ⟨time⟩ ms (⟨rate⟩ tok/s)', ['in ms', 'tok/s']],
    ['p50=12.5ms p90=14ms', 'p50=⟨time⟩ms p90=⟨time⟩ms', ['p50 ms', 'p90 ms']],
    ['fence 89 us, map 1.5e-3 s, 40µs', 'fence ⟨time⟩ us, map ⟨time⟩ s, ⟨time⟩µs', ['fence us', 'map s', 'µs']],
    ['{"decodeMs": 3.5, "wall_us": 12}', '{"decodeMs": ⟨time⟩, "wall_us": ⟨time⟩}', ['decodeMs', 'wall_us']],
    ['read 412.5 GB/s', 'read ⟨rate⟩ GB/s', ['read GB/s']],
    ['89-119 us each', '⟨time⟩ us each', ['us']],
    ['done in 1m32s', 'done in ⟨time⟩', ['in']],
    ['at 2026-11-03T09:23:01Z', 'at ⟨date⟩', ['date']],
  ])('%s', (text, masked, fields) => {
    expect(maskLine(text)).toMatchObject({ masked, fields });
  });
});

describe('never masks a count', () => {
  it.each([
    'passed=21 total=21',
    '3 kernels, 24 tokens, 5 shapes, 64 steps',
    'gates 1-4 pass',
    'refused 12 edges of 30, 12 min, 40 max',
    'p0 = 3, s=3, n_s=4, ms=',
    'version 1.5 sums; v1.5 s',
    'G13G 0x10005 --timeout-ms 60000',
    '16 ms-wide bins',
    'submits token=64 readback=128',
    'worst 0.990 of bound, nmse 1.2e-14',
  ])('%s', (text) => {
    expect(maskLine(text)).toMatchObject({ masked: text, fields: [] });
  });
});

it('strips terminal controls and bidirectional overrides, keeps tabs', () => {
  expect(stripControls('\u001b[31mFAIL\u001b[0m\ta\u0007\u202eb\u001b]8;;http://x\u0007link\u001b]8;;\u0007')).toBe('FAIL\tablink');
});

// A pattern that backtracks takes minutes here, and runs into the test's time limit.
it('a line of any length is masked, and a time far into it is found', () => {
  for (const text of ['a', '1', ' ', 'a-', 'a ', '1 ', 'a=', '1-1', 'a_ms ', '"', 'x']) expect(maskLine(text.repeat(250_000 / text.length)).fields).toEqual([]);
  expect(maskLine(`${'word '.repeat(5000)}took 12.5 ms, 3 kernels`).masked).toMatch(/took ⟨time⟩ ms, 3 kernels$/);
  expect(maskLine(`${'x'.repeat(9000)} took 12.5 ms`)).toMatchObject({ masked: `${'x'.repeat(9000)} took ⟨time⟩ ms`, fields: ['took ms'] });
});

it.each([
  ['RESULT a decode_ms=13536 passed=1 total=1', [{ name: 'decode_ms', ms: 13536 }]],
  ['decode_us: 12.5, wallMs=3.5, total_s=2', [0.0125, 3.5, 2000]],
  ['gates 1,234 ms and load 2 s and step 3 min', [1234, 2000]],
  ['duration=1.5 s; elapsed=7', [1500]],
  // A range and a time per something are no one time; a rate and a count are none at all.
  ['took 12-14 ms, 3 ms/token, 52 tok/s, 8 kernels', []],
])('%s: times in milliseconds', (text, times) => {
  const found = maskLine(text).times;
  expect(times.every((time) => typeof time === 'number') ? found.map((time) => time.ms) : found).toEqual(times);
});
