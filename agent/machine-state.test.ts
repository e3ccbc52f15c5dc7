import { expect, it } from 'vitest';
import { machineState } from '../coordinator/protocol/machine.ts';
import { parseNvidia, readMachineState } from './machine-state.ts';

/** As nvidia-smi of driver 580.159.04 prints it, idle. */
const ROW = 'NVIDIA H200, 580.159.04, 390, 3201, 30, 84.36, 700.00, 700.00, 0x0000000000000001\n';

it('reads one GPU and the processes that compute on it', () => {
  expect(parseNvidia('NVIDIA H200 (NVIDIA)', ROW, '4121, /usr/bin/python3\n')).toEqual({
    gpu: {
      driver: '580.159.04',
      smClockMhz: 390,
      memoryClockMhz: 3201,
      temperatureC: 30,
      powerW: 84.36,
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

it('takes no word of nvidia-smi for a value that is none, and one client that it will not name for all of them', () => {
  const silent = parseNvidia(
    'NVIDIA GB10',
    'NVIDIA GB10, 580.95, N/A, [Unknown Error], [Insufficient Permissions], ERR!, [N/A], [N/A]\n',
    '4121, python3\n[N/A], [N/A]\n',
  );
  expect(silent).toEqual({
    gpu: {
      driver: '580.95',
      smClockMhz: null,
      memoryClockMhz: null,
      temperatureC: null,
      powerW: null,
      powerCapW: null,
      powerCapDefaultW: null,
      throttle: null,
    },
    gpuClients: null,
  });
  expect(parseNvidia('NVIDIA H200', 'No devices were found\n', '')).toEqual({ gpu: null, gpuClients: null });
  expect(parseNvidia('NVIDIA H200', ROW, '4121, [Not Found]\n').gpuClients).toEqual(['4121 [Not Found]']);
});

it('reads this machine, and no GPU for a software device', async () => {
  const state = machineState.parse(await readMachineState({ name: 'llvmpipe', evidence: 'software', driver: 'unknown', driverFiles: null }));
  expect(state).toMatchObject({ gpu: null, gpuClients: null, mesa: null, kernel: expect.any(String) });
  expect(state.memAvailableKiB === null).toBe(process.platform !== 'linux');
});
