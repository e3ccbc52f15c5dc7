/** The contract command on a real driver: what it says of the shipped kernels, and that it says otherwise of broken ones. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runControl } from '../../engine/contract/controls.ts';
import { launchGate } from '../../engine/contract/launch-gate.ts';
import { runContract, runGates } from '../../engine/contract/run.ts';
import type { Subject } from '../../engine/contract/subject.ts';
import type { Gpu } from '../../engine/gpu/device.ts';
import { shippedShader } from '../../engine/gpu/kernel-source.ts';
import { engineRecordLine, type ContractKernelRecord, type EngineRecord } from '../../engine/protocol.ts';
import type { Contract, Control } from '../../kernels/contract.ts';
import { loadKernel, loadRegistry } from '../../kernels/registry.ts';
import { openAnyGpu } from './against-reference.ts';

const SILU_MUL = 'silu-mul/silu-mul.wgsl';

let gpu: Gpu;
const kernels = (await loadRegistry()).map(({ kernel }) => kernel);
const names = kernels.filter(({ needs }) => needs === undefined).map(({ name }) => name);

beforeAll(async () => {
  gpu = await openAnyGpu();
});

afterAll(() => gpu.close());

interface Outcome {
  readonly records: readonly EngineRecord[];
  readonly lines: readonly string[];
}

async function contract(kernel: string): Promise<Outcome> {
  const records: EngineRecord[] = [];
  const lines: string[] = [];
  await runContract(gpu, { kernel, repeat: 2, emit: (record) => records.push(record), print: (line) => lines.push(line) });
  return { records, lines };
}

const outcomes = new Map<string, Promise<Outcome>>();

/** The outcome of a kernel's first run, for tests that look at the same one. */
function once(kernel: string): Promise<Outcome> {
  const outcome = outcomes.get(kernel) ?? contract(kernel);
  outcomes.set(kernel, outcome);
  return outcome;
}

async function subject(name: string): Promise<Subject> {
  const entry = await loadKernel(name);
  return { gpu, contract: entry.contract!, seed: 1, repeat: 2 };
}

const kernelRecord = (records: readonly EngineRecord[]): ContractKernelRecord => records.find((record) => record.kind === 'contract-kernel')!;

describe('the shipped kernels', () => {
  test.each(names)('%s keeps its contract and every control is caught', async (kernel) => {
    const { records, lines } = await once(kernel);
    for (const record of records) expect(engineRecordLine.parse(record)).toEqual(record);
    const record = kernelRecord(records);
    expect([record.limits, ...Object.values(record.gates)].filter(({ status }) => status === 'fail')).toEqual([]);
    expect(record.alarms).toEqual([]);
    expect(records.filter((each) => each.kind === 'contract-control').filter(({ caught }) => !caught)).toEqual([]);
    expect(lines.at(-1)).toMatch(
      /^SUMMARY .+ 1 kernels: 1 pass gates 1-4, 0 fail, 0 known findings; (\d+) controls: \1 caught, 0 missed; 0 limit failures; gates \d+ ms$/,
    );
  });

  test('a kernel that needs more than the device has is skipped, neither passed nor failed; one that has it passes', async () => {
    for (const { name } of kernels.filter(({ needs }) => needs !== undefined)) {
      const { records, lines } = await contract(name);
      for (const record of records) expect(engineRecordLine.parse(record)).toEqual(record);
      const { status, skipped, cases } = kernelRecord(records);
      const absent = status === 'skipped';
      expect([status, cases.length > 0]).toEqual(absent ? ['skipped', false] : ['pass', true]);
      expect(skipped ?? '').toContain(absent ? `feature absent: ${gpu.adapter.name} lacks ` : '');
      expect(lines.at(-1)).toMatch(
        absent
          ? / 1 kernels: 0 pass gates 1-4, 0 fail, 0 known findings, 1 skipped: feature absent; 0 controls: 0 caught, 0 missed; /
          : / 1 kernels: 1 pass gates 1-4, 0 fail, 0 known findings; (\d+) controls: \1 caught, 0 missed; /,
      );
    }
  });

  test('the same seed gives the same digests, case for case', async () => {
    const digests = ({ records }: Outcome): string[] => kernelRecord(records).cases.map(({ name, outputDigest }) => `${name} ${outputDigest}`);
    expect(digests(await contract('rms-norm'))).toEqual(digests(await once('rms-norm')));
  });

  test.each(['vec4', 'tile-rows', 'ncols', 'tile-32'])('qmm-q4 %s has the digest of scalar in every case', async (variant) => {
    const { cases } = kernelRecord((await once('qmm-q4')).records);
    const scalar = cases.filter(({ name }) => name.endsWith('/scalar'));
    expect(scalar.length).toBeGreaterThan(20);
    for (const { name, outputDigest } of scalar) {
      expect(cases.find((other) => other.name === name.replace('/scalar', `/${variant}`))?.outputDigest).toBe(outputDigest);
    }
  });
});

describe('gate 1 sees which pipeline ran', () => {
  test('a variant that runs the other’s entry point is caught, although its numbers are right', async () => {
    const shipped = await subject('qmm-q4');
    const { kernel } = shipped.contract;
    // The host believes that `vec4` is its own entry point, and the launch asks for `scalar`.
    const lying: Contract = {
      ...shipped.contract,
      kernel: { ...kernel, launch: (shape, variant) => ({ ...kernel.launch(shape, 'scalar'), variant: variant ?? 'scalar' }) },
    };
    const result = (await launchGate({ ...shipped, contract: lying })).result();
    expect(result.status).toBe('fail');
    expect(result.detail).toContain('vec4 and scalar ask for the same launch');
  });
});

describe('a control that changes nothing is missed, for each gate', () => {
  test.each<Control>([
    { name: 'harmless', gate: 1, find: '// Eight products, the lowest nibble first.', replace: '// Eight products.' },
    { name: 'harmless', gate: 2, find: '// Eight products, the lowest nibble first.', replace: '// Eight products.' },
    { name: 'harmless', gate: 3, find: '// Eight products, the lowest nibble first.', replace: '// Eight products.' },
    { name: 'harmless', gate: 4, find: '// Eight products, the lowest nibble first.', replace: '// Eight products.' },
  ])('gate $gate', async (control) => {
    const outcome = await runControl(await subject('qmm-q4'), gpu.adapter.limits, control);
    expect(outcome).toEqual({ caught: false, planted: true, detail: `gate ${control.gate} stayed green over the planted line: // Eight products.` });
  });
});

test('an edited shader that does not compile is no caught control', async () => {
  const control: Control = { name: 'broken', gate: 3, find: '// Eight products, the lowest nibble first.', replace: 'fn (' };
  const outcome = await runControl(await subject('qmm-q4'), gpu.adapter.limits, control);
  expect(outcome).toEqual({ caught: false, planted: true, detail: expect.stringMatching(/^not run: with the planted line .* does not compile: /) as string });
});

test('a control of an include that the kernel does not have is missed', async () => {
  const control: Control = { name: 'elsewhere', gate: 3, file: 'shared/sigmoid.wgsl', find: 'exp(-abs(x))', replace: 'exp(abs(x))' };
  const outcome = await runControl(await subject('residual-add'), gpu.adapter.limits, control);
  expect(outcome).toEqual({
    caught: false,
    planted: false,
    detail: expect.stringMatching(/^not planted: .* edits shared\/sigmoid.wgsl, which residual-add does not include/) as string,
  });
});

test('a fault in an include is planted there', async () => {
  const control: Control = { name: 'sign', gate: 3, file: 'shared/sigmoid.wgsl', find: 'exp(-abs(x))', replace: 'exp(abs(x))' };
  expect(await runControl(await subject('output-gate'), gpu.adapter.limits, control)).toMatchObject({ caught: true });
});

test('a control whose line the head edited is not planted', async () => {
  const control: Control = { name: 'drifted', gate: 3, find: 'no such line', replace: 'nothing' };
  const outcome = await runControl(await subject('qmm-q4'), gpu.adapter.limits, control);
  const detail = /^not planted: .* it occurs 0 times: no such line\. next: update it in kernels\/qmm-q4\/qmm-q4\.control\.ts$/;
  expect(outcome).toEqual({ caught: false, planted: false, detail: expect.stringMatching(detail) as string });
});

test.each([
  [{ variants: ['elment'] }, 'silu-mul has no variant elment; it has element'],
  [{ family: 'elments' }, 'silu-mul has no family elments; it has element'],
])('a control of %o is not planted', async (of, reason) => {
  const control: Control = { name: 'typo', gate: 3, find: 'let g = gate[row * params.stride + i];', replace: 'let g = 0.0;', ...of };
  const outcome = await runControl(await subject('silu-mul'), gpu.adapter.limits, control);
  expect(outcome).toMatchObject({ caught: false, planted: false, detail: expect.stringContaining(`control "typo": ${reason}`) as string });
});

test('a shader that does not compile fails gate 1, and the device works on', async () => {
  const shipped = await subject('silu-mul');
  const { results } = await runGates(
    { ...shipped, edits: { [SILU_MUL]: shippedShader(SILU_MUL).replace('let g = gate[row * params.stride + i];', 'let g = gate[row * params.stride + i]') } },
    gpu.adapter.limits,
  );
  expect(results[1]).toMatchObject({ status: 'fail', detail: expect.stringContaining('does not compile') as string });
  expect([results[2].status, results[3].status]).toEqual(['fail', 'fail']);
  expect((await launchGate(shipped)).result().status).toBe('pass');
});

test('a selection that matches nothing names what there is', async () => {
  await expect(contract('qmm-q5')).rejects.toThrow('--kernel qmm-q5: there is no such kernel; there is argmax, ');
});
