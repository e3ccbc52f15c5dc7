import { expect, test } from 'vitest';
import { contractSummaryRecord, type ContractControlRecord, type ContractKernelRecord } from '../protocol.ts';
import { kernelLine, summarise } from './summary.ts';

const gate = { status: 'pass', checks: 10, detail: '' } as const;
const hash = 'a'.repeat(64);

const record: ContractKernelRecord = {
  schema: 1,
  kind: 'contract-kernel',
  kernel: 'qmm-q4',
  group: 'projection',
  status: 'pass',
  hashes: { wgsl: hash, wrapper: hash, reference: hash, contract: hash, control: hash },
  variants: ['scalar', 'vec4'],
  limits: gate,
  gates: { 1: gate, 2: gate, 3: gate, 4: gate },
  limitFailures: 0,
  refusedEdges: 2,
  worst: { fraction: 0.25, case: 'a/b/c' },
  alarms: [],
  cases: [],
  known: null,
  gateMs: 12.4,
};
const control: ContractControlRecord = { schema: 1, kind: 'contract-control', kernel: 'qmm-q4', control: 'dropped term', gate: 3, caught: true, detail: 'x' };

test('the SUMMARY line has the shape that every tool reads, device names with brackets included', () => {
  const failed: ContractKernelRecord = { ...record, kernel: 'other', status: 'fail', limitFailures: 1, gateMs: 20 };
  const summary = summarise('Apple M1 (G13G B1)', [record, failed], [control, { ...control, caught: false }], []);
  expect(summary.line).toBe(
    'SUMMARY Apple M1 (G13G B1) 2 kernels: 1 pass gates 1-4, 1 fail, 0 known findings; 2 controls: 1 caught, 1 missed; 1 limit failures; gates 32 ms',
  );
  expect(contractSummaryRecord.parse(summary)).toEqual(summary);
});

test('a kernel’s lines say what failed and which control was missed', () => {
  const failing: ContractKernelRecord = {
    ...record,
    status: 'fail',
    gates: { ...record.gates, 3: { status: 'fail', checks: 10, detail: 'y is off' } },
    alarms: ['a: over'],
  };
  const lines = kernelLine(failing, [{ ...control, caught: false, detail: 'stayed green' }]);
  expect(lines[0]).toContain('fail  qmm-q4 (scalar, vec4): gates 1 pass, 2 pass, 3 fail, 4 pass; limits pass');
  expect(lines[0]).toContain('0/1 controls caught');
  expect(lines.slice(1)).toEqual(['      gate 3: y is off', '      alarm: a: over', '      missed control dropped term: stayed green']);
});

test('a skipped kernel is counted as such, and in none of the other counts', () => {
  const skipped: ContractKernelRecord = { ...record, kernel: 'third', status: 'skipped', skipped: 'feature absent: it lacks x', gateMs: 0 };
  const summary = summarise('A', [record, skipped], [], []);
  expect(summary.line).toBe(
    'SUMMARY A 2 kernels: 1 pass gates 1-4, 0 fail, 0 known findings, 1 skipped: feature absent; 0 controls: 0 caught, 0 missed; 0 limit failures; gates 12 ms',
  );
  expect(contractSummaryRecord.parse(summary)).toMatchObject({ kernels: 2, pass: 1, fail: 0, known: 0, skipped: 1 });
  expect(kernelLine(skipped, [])).toEqual(['skip  third (scalar, vec4): skipped: feature absent: it lacks x']);
});
