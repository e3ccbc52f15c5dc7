import { expect, test } from 'vitest';
import { deviceName } from '../../protocol/ids.ts';
import { nameDevices } from './adapters.ts';

test('software drivers get their own names, GPUs their model, and each name is a device name', () => {
  const devices = nameDevices([
    { name: 'llvmpipe (LLVM 15.0.6, 256 bits)', evidence: 'software' },
    { name: 'SwiftShader Device (Subzero)', evidence: 'software' },
    { name: 'NVIDIA GeForce RTX 5060 Ti with a very long product name', evidence: 'gpu' },
    { name: 'Intel(R) Arc(TM) Pro B60 Graphics (BMG G21)', evidence: 'gpu' },
    { name: '???', evidence: 'gpu' },
  ]);
  expect(devices.map((entry) => entry.device)).toEqual(['llvmpipe', 'swiftshader', 'nvidia-geforce-rtx-5060-ti-w', 'intel-r-arc-tm-pro-b60-graph', 'adapter']);
  for (const { device } of devices) expect(deviceName.safeParse(device).success).toBe(true);
});

test('adapters of one name open as one device, and different ones never share a device name', () => {
  const devices = nameDevices([
    { name: 'llvmpipe (LLVM 15)', evidence: 'software' },
    { name: 'llvmpipe (LLVM 15)', evidence: 'software' },
    { name: 'llvmpipe (LLVM 19)', evidence: 'software' },
  ]);
  expect(devices.map(({ device, adapter }) => [device, adapter])).toEqual([
    ['llvmpipe', 'llvmpipe (LLVM 15)'],
    ['llvmpipe-2', 'llvmpipe (LLVM 19)'],
  ]);
});
