/** How fast the device reads a buffer from end to end: the ceiling that every kernel's rate is a share of. */
import { EngineBroken } from '../errors.ts';
import type { ProbeRecord } from '../protocol.ts';
import { timeDispatches } from '../gpu/time-dispatches.ts';
import { probeDispatch, readShader } from './shaders.ts';
import type { Bench } from './bench.ts';

const MIB = 1 << 20;
const SIZES = [1, 16, 64, 256, 1024].map((mib) => mib * MIB);

/** A CPU driver reads main memory at main memory's speed; larger buffers would only take longer to say so. */
const MOST_SOFTWARE = 64 * MIB;

/** Loads a lane: few make many short workgroups, many make few long ones. Which suits a size is the device's matter. */
const VECTORS = [4, 16] as const;

/** One sample lasts about this long: long against a submit's latency, short against the time limit. */
const SAMPLE_MS = { gpu: 20, software: 60 } as const;
const SAMPLES = 4;
const MOST_REPEATS = 256;

export type ReadStreamRow = ProbeRecord['readStream'][number];

/** Sizes in bytes that are probed on this device. */
export function readSizes(bindingLimit: number, bufferLimit: number, software: boolean): number[] {
  return SIZES.filter((bytes) => bytes <= Math.min(bindingLimit, bufferLimit) && (!software || bytes <= MOST_SOFTWARE));
}

/** What 0 + 1 + … + (words − 1), added up `times` times, leaves in 32 bits. */
export function indexSum(words: number, times: number): number {
  return Number((((BigInt(words) * BigInt(words - 1)) / 2n) * BigInt(times)) & 0xffffffffn);
}

/**
 * Measures one size with each grid.
 * @returns the fastest sample of the fastest grid; undefined when the device has no memory for the buffer.
 * @throws EngineBroken when the sum shows that not every word was read.
 */
export async function readStream(bench: Bench, bytes: number): Promise<ReadStreamRow | undefined> {
  const data = await roomFor(bench, bytes);
  if (!data) return undefined;
  const sum = bench.gpu.device.createBuffer({ label: 'probe sum', size: 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
  try {
    const whole = { name: 'data', access: 'read_write', type: 'u32' } as const;
    bench.stream.record(await probeDispatch(bench.programs, { name: 'fill-index', bindings: [whole], groups: bytes / 16 / 256, lanes: 256 }, { data }));
    await bench.stream.done();
    let best: ReadStreamRow | undefined;
    for (const vectors of VECTORS) {
      const row = await measure(bench, data, sum, bytes, vectors);
      if (!best || row.gbPerS > best.gbPerS) best = row;
    }
    return best;
  } finally {
    data.destroy();
    sum.destroy();
  }
}

async function roomFor({ gpu }: Bench, bytes: number): Promise<GPUBuffer | undefined> {
  gpu.device.pushErrorScope('out-of-memory');
  const data = gpu.device.createBuffer({ label: 'probe data', size: bytes, usage: GPUBufferUsage.STORAGE });
  const error = await gpu.wait(gpu.device.popErrorScope(), 'allocating a probe buffer');
  return error ? undefined : data;
}

async function measure(bench: Bench, data: GPUBuffer, sum: GPUBuffer, bytes: number, vectors: number): Promise<ReadStreamRow> {
  const { gpu, stream } = bench;
  const read = await probeDispatch(bench.programs, readShader(bytes, vectors), { data, sum });
  stream.clear(sum);
  const warm = await timeDispatches(gpu, stream, undefined, read, [read]);
  let runs = 2;
  const repeats = Math.min(MOST_REPEATS, Math.max(1, Math.round((SAMPLE_MS[gpu.adapter.evidence] * 2) / warm.wallMs)));
  let best = Infinity;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const elapsed = await timeDispatches(
      gpu,
      stream,
      bench.stamps,
      bench.mark,
      Array.from({ length: repeats }, () => read),
    );
    runs += repeats;
    best = Math.min(best, (bench.trusted ? elapsed.gpuMs! : elapsed.wallMs) / repeats);
    if (bench.late()) break;
  }
  const found = new Uint32Array(await stream.read(sum, 0, 4))[0];
  if (found !== indexSum(bytes / 4, runs))
    throw new EngineBroken(
      `the read stream of ${bytes} bytes did not read every word on ${gpu.adapter.name}: its sum is ${found}, not ${indexSum(bytes / 4, runs)}`,
    );
  return { bytes, ms: best, gbPerS: bytes / best / 1e6, repeats, vectors };
}
