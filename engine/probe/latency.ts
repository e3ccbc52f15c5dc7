/** How long an idle queue takes to do next to nothing: one submit and its completion, and 256 bytes back on the host. */
import type { ProbeRecord } from '../protocol.ts';
import { percentile } from '../statistics.ts';
import type { Bench } from './bench.ts';

const SAMPLES = 300;
const MOST_MS = 1500;
const BYTES = 256;

export type Latency = ProbeRecord['submitWait'];

/** One dispatch submitted and waited for. */
export function submitWait({ stream, mark }: Bench): Promise<Latency> {
  return sampled(async () => {
    stream.record(mark);
    stream.submit('timestamp');
    await stream.done();
  });
}

/** 256 bytes copied into a staging buffer, submitted and mapped. */
export async function submitMap({ gpu, stream }: Bench): Promise<Latency> {
  const source = gpu.device.createBuffer({ label: 'probe source', size: BYTES, usage: GPUBufferUsage.COPY_SRC });
  const staging = gpu.device.createBuffer({ label: 'probe staging', size: BYTES, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  try {
    return await sampled(async () => {
      stream.copy(source, 0, staging, 0, BYTES);
      stream.submit('readback');
      await stream.map(staging, BYTES);
    });
  } finally {
    source.destroy();
    staging.destroy();
  }
}

async function sampled(once: () => Promise<void>): Promise<Latency> {
  await once();
  const us: number[] = [];
  const until = performance.now() + MOST_MS;
  while (us.length < SAMPLES && (us.length === 0 || performance.now() < until)) {
    const start = performance.now();
    await once();
    us.push((performance.now() - start) * 1000);
  }
  return { samples: us.length, p50Us: percentile(us, 0.5), p99Us: percentile(us, 0.99) };
}
