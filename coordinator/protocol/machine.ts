/** What a machine says of itself at one moment, outside of any leg. Null: it cannot tell; nothing is guessed. */
import { z } from 'zod';

const figure = z.number().nullable();
const word = z.string().nullable();

export const gpuState = z.object({
  driver: word,
  smClockMhz: figure,
  memoryClockMhz: figure,
  temperatureC: figure,
  powerW: figure,
  powerCapW: figure,
  powerCapDefaultW: figure,
  throttle: word.describe('bit mask of active throttle reasons as the driver prints it; 0x0000000000000001 is idle'),
});

export const machineState = z.object({
  kernel: word,
  load: figure.describe('one minute'),
  memAvailableKiB: figure,
  swapUsedKiB: figure,
  governor: word.describe('of the CPUs; several are joined by commas'),
  gpu: gpuState.nullable().describe('by nvidia-smi, where exactly one GPU is the device'),
  gpuClients: z.array(z.string()).nullable().describe('processes that compute on it while no leg runs: PID NAME'),
});
export type MachineState = z.infer<typeof machineState>;
