import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadRegistry } from '../../kernels/registry.ts';
import { qmmQ4 } from '../../kernels/qmm-q4/qmm-q4.ts';
import { rmsNorm } from '../../kernels/rms-norm/rms-norm.ts';
import type { Kernel, Launch, Shape } from '../../kernels/contract.ts';
import { kernelSource } from '../gpu/kernel-source.ts';
import { shaderFault } from './shader-text.ts';

const entries = await loadRegistry();

describe('every kernel under contract says on the host what its shader says', () => {
  test.each(entries.flatMap(({ kernel, contract }) => (contract ? kernel.variants.map((variant) => ({ kernel, contract, variant })) : [])))(
    '$kernel.name/$variant',
    ({ kernel, contract, variant }) => {
      const shape = contract.shapes.find(({ role }) => role === 'served')!.shape;
      expect(shaderFault(kernel, kernel.launch(shape, variant), kernelSource(kernel).text)).toBe('');
    },
  );
});

const QMM = kernelSource(qmmQ4).text;
const RMS = kernelSource(rmsNorm).text;

function fault(kernel: Kernel<never>, shape: Shape, text: string, change: Partial<Launch> = {}): string {
  const wide = kernel as unknown as Kernel;
  return shaderFault(wide, { ...wide.launch(shape), ...change }, text);
}

const norm = (text: string, change?: Partial<Launch>): string => fault(rmsNorm, { rows: 1, n: 8, eps: 1e-6 }, text, change);

test('the files are read as they are shipped', () => {
  expect(RMS.endsWith(readFileSync(new URL('../../kernels/rms-norm/rms-norm.wgsl', import.meta.url), 'utf8'))).toBe(true);
  expect(norm(RMS)).toBe('');
});

test('fields of the uniform block in another order are refused', () => {
  expect(norm(RMS.replace('  rows: u32,\n  n: u32,', '  n: u32,\n  rows: u32,'))).toContain('the uniform block is (n: u32 at 0, rows: u32 at 4');
});

test('a field of another type is refused', () => {
  expect(norm(RMS.replace('eps: f32,', 'eps: u32,'))).toContain('eps: u32 at 8');
});

test('another workgroup size is refused', () => {
  expect(norm(RMS.replace('@workgroup_size(256)', '@workgroup_size(64)'))).toContain('workgroup_size(64, 1, 1), the host counts on 256 × 1 × 1');
});

test('swapped bindings, a writable input, another element type are refused', () => {
  const swapped = RMS.replace('@binding(0) var<storage, read> x:', '@binding(9) var<storage, read> x:');
  expect(norm(swapped)).toContain('binding 0');
  expect(norm(RMS.replace('var<storage, read> weight', 'var<storage, read_write> weight'))).toContain('binding 1 (weight) is read_write');
  expect(norm(RMS.replace('weight: array<f32>', 'weight: array<u32>'))).toContain('binding 1 (weight) holds u32');
});

test('other workgroup memory than the host counts on is refused', () => {
  expect(norm(RMS, { workgroupBytes: 256 })).toBe('the shader declares 1088 bytes of workgroup memory, the host counts on 256');
});

test('a missing entry point is refused', () => {
  expect(fault(qmmQ4, { rows: 1, n: 1, k: 64 }, QMM, { entryPoint: 'vec8' })).toBe('the shader has no entry point vec8');
});
