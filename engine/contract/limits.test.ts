import { expect, test } from 'vitest';
import { contract } from '../../kernels/qmm-q4/qmm-q4.contract.ts';
import type { Contract, Shape } from '../../kernels/contract.ts';
import { limitFault, type Limits } from './limits.ts';

/** The limits that WebGPU guarantees everywhere. */
const LEAST: Limits = {
  maxComputeWorkgroupsPerDimension: 65535,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupSizeZ: 64,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupStorageSize: 16384,
  maxStorageBuffersPerShaderStage: 8,
  maxStorageBufferBindingSize: 134217728,
  maxBufferSize: 268435456,
  maxUniformBufferBindingSize: 65536,
};

const qmm = contract as unknown as Contract;

function faultOf(shape: Shape, limits: Limits): string {
  return limitFault(limits, qmm, shape, qmm.kernel.launch(shape, 'scalar'));
}

test('a layer’s projection fits the least device that WebGPU allows', () => {
  expect(faultOf({ rows: 1, n: 6144, k: 2048 }, LEAST)).toBe('');
});

test('the 2B head in one binding does not', () => {
  expect(faultOf({ rows: 1, n: 248320, k: 2048 }, LEAST)).toBe('needs 254279680 bytes in one binding, the device has 134217728 (maxStorageBufferBindingSize)');
});

test.each([
  ['maxComputeInvocationsPerWorkgroup', 32],
  ['maxComputeWorkgroupSizeX', 32],
  ['maxStorageBuffersPerShaderStage', 4],
  ['maxComputeWorkgroupsPerDimension', 1],
  ['maxUniformBufferBindingSize', 8],
])('a device with %s of %i is refused by that name', (limit, most) => {
  expect(faultOf({ rows: 2, n: 64, k: 64 }, { ...LEAST, [limit]: most })).toContain(`(${limit})`);
});

test('a device that states no limit is refused', () => {
  expect(faultOf({ rows: 1, n: 64, k: 64 }, {})).toContain('states no');
});
