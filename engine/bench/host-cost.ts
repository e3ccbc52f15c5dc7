/**
 * What a token of Qwen3.5-2B costs the host: decoding at the model's real dimensions on Dawn's null backend, which does everything but
 * compute. Counts are exact, from two lengths; the time is this machine's.
 */
import { openNullGpu } from '../gpu/null-device.ts';
import { Stream } from '../gpu/stream.ts';
import { nullDecoder } from '../decode/null-decode.ts';
import { plan, subjectOf } from '../decode/inventory.ts';
import { timedRun } from '../decode/timed-pass.ts';
import { perToken, type CountedRun } from '../decode/two-length.ts';
import { median } from '../statistics.ts';

/** The two lengths of the exact counts. */
const LENGTHS = [4, 12] as const;

/** Steps of a timed run; the caches hold as many positions, and the null backend's memory is small. */
const STEPS = 65;
const RUNS = 7;

export interface HostCost {
  readonly model: string;
  /** Of a token in a run of 64, two tokens in flight: median of the runs' means, which `hostMsRange` spans. */
  readonly hostMsPerToken: number;
  readonly hostMsRange: readonly [number, number];
  readonly dispatchesPerToken: number;
  readonly dispatches: Readonly<Record<string, number>>;
  readonly submitsPerToken: number;
  readonly bytesReadPerToken: number;
  /** Bytes that the null backend binds at once: less than 2b's head, which is dispatched in parts there. */
  readonly bindingLimit: number;
  /** The same on a device that binds 2 GiB − 4. */
  readonly dispatchesUnsplit: number;
}

/** Measures a config. @throws EngineBroken when two tokens differ in what they count. */
export async function hostCost(name: string, settings: Readonly<Record<string, string>>): Promise<HostCost> {
  const { config } = subjectOf({ config: name });
  const gpu = await openNullGpu();
  try {
    const stream = new Stream(gpu);
    const decoder = await nullDecoder(gpu, config, settings, STEPS + 1);
    const counted = async (steps: number): Promise<CountedRun> => ({
      steps,
      counters: (await timedRun(gpu, stream, decoder, steps, config.vocab, false)).counters,
    });
    const counts = perToken(await counted(LENGTHS[0]), await counted(LENGTHS[1]));
    const means: number[] = [];
    for (let run = 0; run <= RUNS; run++) {
      const { decodeMs } = (await timedRun(gpu, stream, decoder, STEPS, config.vocab, false)).timing;
      // In the first run V8 is still compiling.
      if (run > 0) means.push(decodeMs.total / decodeMs.steps);
    }
    const total = (of: Readonly<Record<string, number>>): number => Object.values(of).reduce((sum, count) => sum + count, 0);
    return {
      model: name,
      hostMsPerToken: median(means),
      hostMsRange: [Math.min(...means), Math.max(...means)],
      dispatchesPerToken: total(counts.dispatches),
      dispatches: counts.dispatches,
      submitsPerToken: total(counts.submits),
      bytesReadPerToken: counts.bytesReadBack,
      bindingLimit: gpu.device.limits.maxStorageBufferBindingSize,
      dispatchesUnsplit: plan(config, settings, 2 ** 31 - 4).serial,
    };
  } finally {
    gpu.close();
  }
}
