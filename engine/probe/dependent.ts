/** What one more dispatch costs when it must wait for the one before: on the device, and on the host that records it. */
import { EngineBroken } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { Dispatch, Programs } from '../gpu/programs.ts';
import { timeDispatches, type Elapsed } from '../gpu/time-dispatches.ts';
import type { ProbeRecord } from '../protocol.ts';
import { median } from '../statistics.ts';
import type { Bench } from './bench.ts';
import { probeDispatch } from './shaders.ts';

/** Pipelines in turn, as a token has them: a driver may skip what switching to the same one costs. */
const PIPELINES = 20;
const DISPATCHES = 500;
const SAMPLES = 9;

const BINDINGS = [
  { name: 'before', access: 'read', type: 'u32' },
  { name: 'after', access: 'read_write', type: 'u32' },
] as const;

/** A chain over two buffers, each dispatch reading what the last one wrote. */
export interface Chain {
  /** PIPELINES dispatches; an even number, so that the chain may be repeated. */
  readonly dispatches: readonly Dispatch[];
  /** What the dispatches add up to. */
  readonly sum: number;
  readonly last: GPUBuffer;
}

/** Builds the chain. @param length pipelines, an even number. */
export async function chainOf(gpu: Gpu, programs: Programs, length: number = PIPELINES): Promise<Chain> {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  const [a, b] = ['probe chain a', 'probe chain b'].map((label) => gpu.device.createBuffer({ label, size: 256, usage })) as [GPUBuffer, GPUBuffer];
  const steps = Array.from({ length }, (_, index) => index + 1);
  const dispatches = await Promise.all(
    steps.map((step, index) => {
      const buffers = index % 2 === 0 ? { before: a, after: b } : { before: b, after: a };
      return probeDispatch(programs, { name: 'add-step', bindings: BINDINGS, constants: { STEP: step }, groups: 1, lanes: 64 }, buffers);
    }),
  );
  return { dispatches, sum: steps.reduce((sum, step) => sum + step, 0), last: a };
}

/** Medians over SAMPLES runs, in microseconds a dispatch. @throws EngineBroken when the chain's result is not its sum. */
export async function dependentDispatch(bench: Bench): Promise<ProbeRecord['dispatch']> {
  const { gpu, stream, programs } = bench;
  const chain = await chainOf(gpu, programs);
  const run = Array.from({ length: DISPATCHES }, (_, index) => chain.dispatches[index % PIPELINES]!);
  const samples: Elapsed[] = [];
  let runs = 0;
  for (; runs <= SAMPLES; runs++) {
    const elapsed = await timeDispatches(gpu, stream, bench.stamps, bench.mark, run);
    // The first run meets cold caches on the host and on the device.
    if (runs > 0) samples.push(elapsed);
    if (runs > 0 && bench.late()) break;
  }
  const found = new Uint32Array(await stream.read(chain.last, 0, 4))[0];
  const expected = (samples.length + 1) * (DISPATCHES / PIPELINES) * chain.sum;
  if (found !== expected) throw new EngineBroken(`a chain of dispatches left ${found}, not ${expected}, on ${gpu.adapter.name}`);
  const each = (ms: (elapsed: Elapsed) => number): number => (median(samples.map(ms)) * 1000) / DISPATCHES;
  return {
    dispatches: DISPATCHES,
    pipelines: PIPELINES,
    gpuUs: bench.trusted ? each(({ gpuMs }) => gpuMs!) : null,
    hostUs: each(({ hostMs }) => hostMs),
    wallUs: each(({ wallMs }) => wallMs),
  };
}
