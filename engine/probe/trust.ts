/**
 * Whether the device's timestamps can be believed. A run long against every latency is measured by both clocks, and the stamps are
 * trusted when they tell nearly the same: some drivers report a wrong period, or zeros.
 */
import type { Dispatch } from '../gpu/programs.ts';
import { timeDispatches, type Elapsed } from '../gpu/time-dispatches.ts';
import type { ProbeRecord } from '../protocol.ts';
import { median } from '../statistics.ts';
import type { Bench } from './bench.ts';
import { probeDispatch, readShader } from './shaders.ts';

export type Trust = ProbeRecord['timestamps'];

/** A stamped span is inside the wall span, so it is shorter by the host's share, and never longer beyond the clocks' difference. */
const LEAST_RATIO = 0.7;
const MOST_RATIO = 1.03;

/** The wall span must be this long before its ratio means anything. */
const LEAST_WAIT_MS = 10;
const SAMPLES = 5;

/** Below the stream's own cap on what one submit holds. */
const MOST_DISPATCHES = 1024;

/** Judges ratios of stamped to wall time. */
export function judge(ratios: readonly number[]): Trust {
  const ratio = median(ratios);
  const trusted = ratios.length > 0 && ratio >= LEAST_RATIO && ratio <= MOST_RATIO;
  const why = trusted ? '' : `timestamp spans are ${ratio.toFixed(3)} of wall spans; ${LEAST_RATIO} to ${MOST_RATIO} is believed`;
  return { available: true, trusted, ratio, why };
}

/** Measures, on reads of one buffer in one pass: work that the device is slower at than the host is at recording it. */
export async function timestampTrust(bench: Omit<Bench, 'trusted'>, bytes: number): Promise<Trust> {
  const { gpu, stream, programs, stamps, mark } = bench;
  if (!stamps) return { available: false, trusted: false, ratio: null, why: 'the device has no timestamp-query' };
  const [data, sum] = [bytes, 4].map((size) => gpu.device.createBuffer({ label: 'probe trust', size, usage: GPUBufferUsage.STORAGE })) as [
    GPUBuffer,
    GPUBuffer,
  ];
  try {
    const read = await probeDispatch(programs, readShader(bytes, 16), { data, sum });
    const run = (length: number): Promise<Elapsed> => timeDispatches(gpu, stream, stamps, mark, Array<Dispatch>(length).fill(read));
    let length = 1;
    await run(length);
    for (let elapsed = await run(length); waitMs(elapsed) < LEAST_WAIT_MS && length < MOST_DISPATCHES; elapsed = await run(length))
      length = Math.min(MOST_DISPATCHES, length * 4);
    const ratios: number[] = [];
    for (let sample = 0; sample < SAMPLES && (sample === 0 || !bench.late()); sample++) {
      const elapsed = await run(length);
      ratios.push(elapsed.gpuMs! / waitMs(elapsed));
    }
    return judge(ratios);
  } finally {
    data.destroy();
    sum.destroy();
  }
}

/** From the submit to the empty queue: what a stamped span lies in. */
function waitMs({ wallMs, hostMs }: Elapsed): number {
  return wallMs - hostMs;
}
