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
  mesa: word.optional().describe('version of the installed Mesa, where the device’s driver is of it; absent from agents of earlier versions'),
  load: figure.describe('one minute'),
  memAvailableKiB: figure,
  swapUsedKiB: figure,
  pageCache: z
    .enum(['dropped', 'kept'])
    .nullable()
    .optional()
    .describe('before a leg: dropped by the agent, or left as it was; null: it was to be dropped and that is not permitted'),
  governor: word.describe('of the CPUs; several are joined by commas'),
  gpu: gpuState.nullable().describe('by nvidia-smi, where exactly one GPU is the device'),
  gpuClients: z.array(z.string()).nullable().describe('processes that compute on it while no leg runs: PID NAME'),
});
export type MachineState = z.infer<typeof machineState>;

/** Bits of NVML's clocks event reasons (nvml.h, nvmlClocksEventReason…). An idle GPU and clocks that a person set slow nothing down unasked. */
const THROTTLE_BITS = [
  [0x4n, 'software power cap'],
  [0x8n, 'hardware slowdown'],
  [0x10n, 'sync boost'],
  [0x20n, 'software thermal slowdown'],
  [0x40n, 'hardware thermal slowdown'],
  [0x80n, 'hardware power brake'],
] as const;

/** What a `throttle` mask names, in words; empty: nothing slows the GPU down; null: it is no mask, and the device does not tell. */
export function throttleReasons(mask: string | null): string[] | null {
  if (mask === null || !/^0x[0-9a-f]+$/i.test(mask)) return null;
  const bits = BigInt(mask);
  return THROTTLE_BITS.flatMap(([bit, name]) => ((bits & bit) === 0n ? [] : [name]));
}
