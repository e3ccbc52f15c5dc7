import { expect, it } from 'vitest';
import { machineState } from '../coordinator/protocol/machine.ts';
import { parseNvidia, readMachineState } from './machine-state.ts';

const ROW = 'NVIDIA H200, 570.86.15, 1980, 3201, 41, 122.45, 700.00, 700.00, 0x0000000000000001\n';

it('reads one GPU and the processes that compute on it', () => {
  expect(parseNvidia('NVIDIA H200 (NVIDIA)', ROW, '4121, /usr/bin/python3\n')).toEqual({
    gpu: {
      driver: '570.86.15',
      smClockMhz: 1980,
      memoryClockMhz: 3201,
      temperatureC: 41,
      powerW: 122.45,
      powerCapW: 700,
      powerCapDefaultW: 700,
      throttle: '0x0000000000000001',
    },
    gpuClients: ['4121 /usr/bin/python3'],
  });
  expect(parseNvidia('NVIDIA H200', ROW, '').gpuClients).toEqual([]);
});

it('invents nothing: what the driver does not tell, several GPUs, or another one, are unknown', () => {
  const silent = parseNvidia('NVIDIA GB10', 'NVIDIA GB10, 580.95, [N/A], [N/A], 44, [N/A], [N/A], [Not Supported], [N/A]\n', null);
  expect(silent).toMatchObject({
    gpu: { driver: '580.95', smClockMhz: null, powerCapW: null, powerCapDefaultW: null, throttle: null, temperatureC: 44 },
    gpuClients: null,
  });
  for (const [adapter, rows] of [
    ['NVIDIA H200', ROW + ROW],
    ['Intel Arc B60', ROW],
    ['NVIDIA H200', ''],
  ] as const)
    expect(parseNvidia(adapter, rows, '1, x')).toEqual({ gpu: null, gpuClients: null });
});

it('reads this machine, and no GPU for a software device', async () => {
  const state = machineState.parse(await readMachineState({ name: 'llvmpipe', evidence: 'software' }));
  expect(state).toMatchObject({ gpu: null, gpuClients: null, kernel: expect.any(String) });
  expect(state.memAvailableKiB === null).toBe(process.platform !== 'linux');
});
